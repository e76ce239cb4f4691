//! Compiles `src/rules.txt`, `src/commands.txt` and `src/sources.txt` (their heads explain the formats)
//! into constant tables.
//!
//! A hook lives for two milliseconds. Building an automaton of the rules in every process would
//! cost a tenth of that, so the tables are made here: the rules themselves, the anchors by which
//! a scanner notices them, and a filter that says of four bytes "no anchor begins like this".

use std::fmt::Write as _;

/// Entries of the filter, as a power of two.
const FILTER_LOG2: u32 = 14;
const FILTER_FACTOR: u32 = 0x9E37_79B1;
/// Slots of the hash table behind the bitmap, as a power of two.
const SLOTS_LOG2: u32 = 11;

#[derive(Default)]
struct RuleSource {
    name: String,
    edge: bool,
    digit: bool,
    floor_tenths: u32,
    before: Option<String>,
    after: Vec<PieceSource>,
    anchors: Vec<AnchorSource>,
}

struct AnchorSource {
    text: String,
    /// The scanner that looks at the place, as a variant of `AnchorScanner`.
    scanner: String,
    any_case: bool,
}

enum PieceSource {
    Text(String),
    /// As Rust.
    Run(String),
}

/// All texts of all rules in one, so that the tables hold no pointers: a pointer in a table is
/// work for the loader at every start.
#[derive(Default)]
struct TextPool(String);

impl TextPool {
    fn add(&mut self, text: &str) -> String {
        let start = self.0.find(text).unwrap_or_else(|| {
            self.0.push_str(text);
            self.0.len() - text.len()
        });
        format!("TextSlice {{ start: {start}, length: {} }}", text.len())
    }
}

/// A program that takes a secret: one line of `src/commands.txt` gives one or more of these.
struct CommandSource {
    program: String,
    open_end: bool,
    option: String,
    /// As a variant of `PasswordForm`.
    form: String,
}

pub(super) fn tables(source: &str, commands: &str, sources: &str) -> Result<String, String> {
    let sources = parse_sources(sources)?;
    let mut commands = parse_commands(commands)?;
    let mut rules: Vec<RuleSource> = Vec::new();
    for (number, line) in source.lines().enumerate() {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let failed = |what: &str| format!("line {}: {what}: {line}", number + 1);
        let (word, rest) = line.split_once(' ').ok_or_else(|| failed("no value"))?;
        if word == "rule" {
            rules.push(RuleSource { name: rest.to_owned(), ..RuleSource::default() });
            continue;
        }
        let rule = rules.last_mut().ok_or_else(|| failed("no rule yet"))?;
        match word {
            "match" => rule.shape(rest).map_err(|e| failed(&e))?,
            "named" => rule.named(rest).map_err(|e| failed(&e))?,
            "by" => rule.by(rest).map_err(|e| failed(&e))?,
            "floor" => rule.floor_tenths = tenths(rest).ok_or_else(|| failed("not a number"))?,
            "needs" if rest == "digit" => rule.digit = true,
            "yes" | "no" => {}
            _ => return Err(failed("unknown word")),
        }
    }
    let rule = rules.iter_mut().find(|rule| rule.name == "command-password");
    let rule = rule.ok_or("no rule for commands")?;
    commands.sort_by(|a, b| a.program.cmp(&b.program));
    let mut last = "";
    for command in &commands {
        if command.program != last {
            last = &command.program;
            rule.anchor(last, "Command", true)?;
        }
    }
    Ok(print(&rules, &commands, &sources))
}

/// A command or file whose output is secret: one line of `src/sources.txt`.
struct OutputSource {
    /// As a variant of `OutputSecrecy`.
    secrecy: String,
    is_file: bool,
    pattern: String,
}

/// `whole file PATTERN`, `lines command PATTERN`
fn parse_sources(source: &str) -> Result<Vec<OutputSource>, String> {
    let lines = source.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let failed = || format!("sources.txt: {line}");
            let (secrecy, rest) = line.split_once(' ').ok_or_else(failed)?;
            let (kind, pattern) = rest.split_once(' ').ok_or_else(failed)?;
            if !matches!(secrecy, "whole" | "lines" | "values") || !matches!(kind, "file" | "command") {
                return Err(failed());
            }
            let secrecy = secrecy[..1].to_uppercase() + &secrecy[1..];
            Ok(OutputSource { secrecy, is_file: kind == "file", pattern: pattern.to_owned() })
        })
        .collect()
}

/// `program = option form, option form, …`
fn parse_commands(source: &str) -> Result<Vec<CommandSource>, String> {
    let mut commands = Vec::new();
    for (number, line) in source.lines().enumerate() {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let failed = |what: &str| format!("commands.txt, line {}: {what}: {line}", number + 1);
        let (program, forms) = line.split_once(" = ").ok_or_else(|| failed("no form"))?;
        let (program, open_end) = match program.strip_suffix('*') {
            Some(program) => (program.to_owned(), true),
            // The more bytes an anchor has, the rarer it is.
            None if program.len() < 4 && !program.starts_with(['\'', '"']) => (format!("{program} "), false),
            None => (program.to_owned(), false),
        };
        for entry in forms.split(", ") {
            let (option, form) = entry.rsplit_once(' ').unwrap_or(("", entry));
            let form = form_variant(form).ok_or_else(|| failed("unknown form"))?;
            commands.push(CommandSource {
                program: program.clone(),
                open_end,
                option: option.to_owned(),
                form,
            });
        }
    }
    Ok(commands)
}

fn form_variant(form: &str) -> Option<String> {
    Some(match form {
        "arg1" | "arg2" | "arg3" | "arg4" => format!("Arg({})", &form[3..]),
        "next" | "glued" | "either" | "user" | "percent" | "comma" | "slash" | "cookie" | "assign"
        | "last" | "chosen" | "quoted" | "call" | "stdin" | "typed" | "sure" | "listed" | "printed" => {
            form[..1].to_uppercase() + &form[1..]
        }
        "sureuser" => "SureUser".to_owned(),
        _ => return None,
    })
}

impl RuleSource {
    /// `[^] [run] anchor|anchor piece…`
    fn shape(&mut self, shape: &str) -> Result<(), String> {
        let mut pieces = shape.split(' ').filter(|p| !p.is_empty()).peekable();
        self.edge = pieces.next_if_eq(&"^").is_some();
        self.before = pieces.next_if(|p| run(p).is_some()).and_then(run);
        let anchors = pieces.next().ok_or("no anchor")?;
        self.after = pieces.flat_map(piece).collect();
        self.anchor(anchors, "Shape", false)
    }

    /// `word|word piece…`: a value of this shape, assigned to a name with this word in it.
    fn named(&mut self, rest: &str) -> Result<(), String> {
        let (words, shape) = rest.split_once(' ').ok_or("no shape")?;
        self.after = shape.split(' ').flat_map(piece).collect();
        self.anchor(words, "Named", true)
    }

    /// `Scanner anchor anchor…`: written by hand in Rust.
    fn by(&mut self, rest: &str) -> Result<(), String> {
        let (scanner, anchors) = rest.split_once(' ').unwrap_or((rest, ""));
        anchors
            .split(' ')
            .filter(|word| !word.is_empty())
            .try_for_each(|word| self.anchor(&unescape(&word.replace('~', " ")), scanner, true))
    }

    fn anchor(&mut self, alternatives: &str, scanner: &str, any_case: bool) -> Result<(), String> {
        for text in alternatives.split('|').flat_map(expand) {
            if text.len() < 3 {
                return Err(format!("an anchor needs three bytes, {text:?} has fewer"));
            }
            self.anchors.push(AnchorSource { text, scanner: scanner.to_owned(), any_case });
        }
        Ok(())
    }
}

/// `\u{200b}` → the character.
fn unescape(text: &str) -> String {
    let escaped = text.strip_prefix("\\u{").and_then(|rest| rest.strip_suffix('}'));
    let code = escaped.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    code.and_then(char::from_u32).map_or_else(|| text.to_owned(), String::from)
}

/// `SK[0-9a]` → `SK0` … `SK9`, `SKa`.
fn expand(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('[') else {
        return vec![text.to_owned()];
    };
    let Some((set, after)) = rest.split_once(']') else {
        return vec![text.to_owned()];
    };
    let mut out = Vec::new();
    let mut set = set.chars().peekable();
    while let Some(from) = set.next() {
        let to = if set.next_if_eq(&'-').is_some() { set.next().unwrap_or(from) } else { from };
        out.extend((from..=to).map(|c| format!("{before}{c}{after}")));
    }
    out
}

/// `class:4`, `class:4-9`, `class:4+` as Rust.
fn run(text: &str) -> Option<String> {
    let (class, count) = text.split_once(':')?;
    if !class.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) || class.is_empty() {
        return None;
    }
    let (min, max) = match (count.split_once('-'), count.strip_suffix('+')) {
        (Some((min, max)), _) => (min.parse().ok()?, max.parse().ok()?),
        (None, Some(min)) => (min.parse().ok()?, u16::MAX),
        (None, None) => (count.parse().ok()?, count.parse().ok()?),
    };
    let min: u16 = min;
    Some(format!("ClassRun {{ class: class::{}, min: {min}, max: {max} }}", class.to_uppercase()))
}

fn piece(text: &str) -> Vec<PieceSource> {
    if text == "uuid" {
        return "xhex:8 - xhex:4 - xhex:4 - xhex:4 - xhex:12".split(' ').flat_map(piece).collect();
    }
    vec![run(text).map_or_else(|| PieceSource::Text(text.to_owned()), PieceSource::Run)]
}

fn tenths(text: &str) -> Option<u32> {
    let (whole, tenth) = text.split_once('.')?;
    Some(whole.parse::<u32>().ok()? * 10 + tenth.parse::<u32>().ok()?)
}

/// The first three bytes with case folded; all other bytes keep apart well enough.
fn key(text: &str) -> u32 {
    text.bytes().take(3).fold(0, |key, b| key << 8 | u32::from(b | 0x20))
}

fn print(rules: &[RuleSource], commands: &[CommandSource], sources: &[OutputSource]) -> String {
    let mut anchors: Vec<(u32, usize, &AnchorSource)> = rules
        .iter()
        .enumerate()
        .flat_map(|(i, rule)| rule.anchors.iter().map(move |a| (key(&a.text), i, a)))
        .collect();
    // The longest anchor first: `sk-ant-` before `sk-`.
    anchors.sort_by_key(|(key, rule, a)| (*key, std::cmp::Reverse(a.text.len()), *rule));
    let filter = filter(anchors.iter().map(|(_, _, anchor)| anchor.text.as_bytes()));
    let slots = slots(anchors.iter().map(|(key, ..)| *key));
    let mut texts = TextPool::default();
    let mut pieces: Vec<String> = Vec::new();
    let rules: Vec<String> = rules.iter().map(|rule| rule.print(&mut texts, &mut pieces)).collect();
    let anchors: Vec<String> =
        anchors.iter().map(|(key, rule, a)| a.print(*key, *rule, &mut texts)).collect();
    let commands: Vec<String> = commands.iter().map(|command| command.print(&mut texts)).collect();
    let sources: Vec<String> = sources
        .iter()
        .map(|source| {
            let (secrecy, is_file) = (&source.secrecy, source.is_file);
            let pattern = texts.add(&source.pattern);
            format!(
                "SecretSource {{ secrecy: OutputSecrecy::{secrecy}, is_file: {is_file}, pattern: {pattern} }}"
            )
        })
        .collect();
    let mut out = String::new();
    table(&mut out, "SOURCES", "SecretSource", &sources);
    table(&mut out, "COMMANDS", "CommandOption", &commands);
    table(&mut out, "RULES", "SecretRule", &rules);
    table(&mut out, "PIECES", "ShapePiece", &pieces);
    table(&mut out, "ANCHORS", "RuleAnchor", &anchors);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "pub(in super::super) static TEXTS: &str = {:?};", texts.0);
    let _ = writeln!(out, "pub(in super::super) static SLOTS: [u16; {}] = {slots:?};", slots.len());
    let _ = writeln!(out, "pub(in super::super) const SLOTS_LOG2: u32 = {SLOTS_LOG2};");
    let _ = writeln!(out, "pub(in super::super) static FILTER: [u8; {}] = {filter:?};", filter.len());
    let _ = writeln!(out, "pub(in super::super) const FILTER_LOG2: u32 = {FILTER_LOG2};");
    let _ = writeln!(out, "pub(in super::super) const FILTER_FACTOR: u32 = {FILTER_FACTOR};");
    out
}

/// For each hash of three bytes, the fourth bytes that an anchor may have there, as a set of their
/// last three bits. After an anchor of three bytes anything may follow.
fn filter<'a>(anchors: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut filter = vec![0_u8; 1 << FILTER_LOG2];
    for anchor in anchors {
        let key = anchor.iter().take(3).rev().fold(0, |key: u32, b| key << 8 | u32::from(b | 0x20));
        let slot = key.wrapping_mul(FILTER_FACTOR) >> (32 - FILTER_LOG2);
        filter[slot as usize] |= anchor.get(3).map_or(0xFF, |b| 1 << ((b | 0x20) & 7));
    }
    filter
}

/// An open hash table: for each key one more than the index of its first anchor, in the first
/// free slot from its hash on.
fn slots(keys: impl Iterator<Item = u32>) -> Vec<u16> {
    let mut slots = vec![0; 1 << SLOTS_LOG2];
    let mut last = None;
    for (i, key) in keys.enumerate() {
        if last.replace(key) == Some(key) {
            continue;
        }
        let mut slot = (key.wrapping_mul(FILTER_FACTOR) >> (32 - SLOTS_LOG2)) as usize;
        while slots[slot] != 0 {
            slot = (slot + 1) % slots.len();
        }
        slots[slot] = u16::try_from(i + 1).unwrap_or_else(|_| panic!("too many anchors"));
    }
    slots
}

fn table(out: &mut String, name: &str, kind: &str, rows: &[String]) {
    let _ = writeln!(out, "pub(in super::super) static {name}: [{kind}; {}] = [", rows.len());
    for row in rows {
        let _ = writeln!(out, "    {row},");
    }
    let _ = writeln!(out, "];");
}

impl RuleSource {
    fn print(&self, texts: &mut TextPool, pieces: &mut Vec<String>) -> String {
        let first = pieces.len();
        pieces.extend(self.after.iter().map(|piece| match piece {
            PieceSource::Text(text) => format!("ShapePiece::Text({})", texts.add(text)),
            PieceSource::Run(run) => format!("ShapePiece::Run({run})"),
        }));
        format!(
            "SecretRule {{ name: {}, edge: {}, digit: {}, floor_tenths: {}, before: {}, first: {first}, pieces: {} }}",
            texts.add(&self.name),
            self.edge,
            self.digit,
            self.floor_tenths,
            self.before.as_ref().map_or_else(|| "None".to_owned(), |run| format!("Some({run})")),
            self.after.len(),
        )
    }
}

impl CommandSource {
    fn print(&self, texts: &mut TextPool) -> String {
        format!(
            "CommandOption {{ program: {}, open_end: {}, option: {}, form: PasswordForm::{} }}",
            texts.add(&self.program),
            self.open_end,
            texts.add(&self.option),
            self.form,
        )
    }
}

impl AnchorSource {
    fn print(&self, key: u32, rule: usize, texts: &mut TextPool) -> String {
        format!(
            "RuleAnchor {{ key: {key}, fourth: {}, text: {}, scanner: AnchorScanner::{}, any_case: {}, rule: RuleId({rule}) }}",
            self.text.as_bytes().get(3).map_or(0, |b| b | 0x20),
            texts.add(&self.text),
            self.scanner,
            self.any_case,
        )
    }
}
