//! What one side said in a turn, sentence by sentence, each with the cues found in it.

use std::collections::BTreeSet;

use super::cues::{self, Cue, Language, Marks};
use super::sentences::{Block, Document, Sentence};
use super::text::{content_words, is_name};

/// One sentence with what was found in it.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub text: String,
    pub block: Block,
    pub paragraph: usize,
    pub marks: Marks,
    pub words: BTreeSet<String>,
    /// Numbers, names from code, quoted literals and words in capitals: what makes it concrete.
    pub values: usize,
    pub question: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Speech {
    pub statements: Vec<Statement>,
    /// Code or output stands in it, in a fence.
    pub has_fence: bool,
    pub language: Language,
}

impl Speech {
    pub(super) fn read(text: &str) -> Self {
        let document = Document::read(text);
        let language = Language::detect(text);
        let statements = document.sentences.into_iter();
        let statements = statements.map(|s| Statement::new(s, language)).collect();
        Self { statements, has_fence: document.has_fence, language }
    }

    /// Whether nothing is said beyond agreement and politeness: "ok", "thanks, go on".
    pub(super) fn is_bare(&self) -> bool {
        !self.has_fence && self.statements.iter().all(Statement::is_bare)
    }

    /// The statements that are the speaker's own: no headings, no quotes, no table rows.
    pub(super) fn own(&self) -> impl Iterator<Item = &Statement> {
        self.statements
            .iter()
            .filter(|statement| matches!(statement.block, Block::Prose | Block::Item | Block::Todo))
    }
}

impl Statement {
    fn new(sentence: Sentence, language: Language) -> Self {
        Self {
            marks: cues::mark(&sentence.text, language),
            words: content_words(&sentence.text),
            values: values(&sentence.text),
            question: sentence.text.ends_with(['?', '？']),
            text: sentence.text,
            block: sentence.block,
            paragraph: sentence.paragraph,
        }
    }

    /// A piece of a sentence, weighed by itself.
    pub(super) fn clause(text: &str, language: Language) -> Self {
        let sentence =
            Sentence { text: text.to_owned(), block: Block::Prose, section: String::new(), paragraph: 0 };
        Self::new(sentence, language)
    }

    /// How strongly it reads as a rule: something that binds what is done later.
    pub(super) fn rule_weight(&self) -> f32 {
        let counted = |cue: Cue, first: f32, more: f32| match self.marks.count(cue) {
            0 => 0.0,
            n => first + more * f32::from(n.min(4) - 1),
        };
        let mut weight = counted(Cue::Rule, 2.0, 0.5)
            + counted(Cue::Limit, 1.75, 0.5)
            + counted(Cue::Should, 0.75, 0.25)
            + counted(Cue::Choice, 1.0, 0.25)
            + counted(Cue::Reason, 0.75, 0.0)
            + counted(Cue::Measure, 1.0, 0.0)
            + counted(Cue::Amend, 1.5, 0.0)
            - counted(Cue::Hedge, 1.0, 0.5)
            - counted(Cue::Filler, 1.5, 0.5)
            - counted(Cue::Plan, 1.5, 0.0)
            - counted(Cue::Verified, 1.5, 0.5);
        weight += 0.4 * self.values.min(4) as f32;
        if self.question {
            weight -= 5.0;
        }
        if self.marks.opens(Cue::Request) && !self.marks.has(Cue::Rule) && !self.marks.has(Cue::Limit) {
            weight -= 1.5;
        }
        match self.block {
            Block::Heading => weight -= 3.0,
            Block::Quote => weight -= 4.0,
            Block::Row => weight -= 1.0,
            Block::Prose | Block::Item | Block::Todo => {}
        }
        if self.words.len() < 2 {
            weight -= 1.0;
        }
        weight
    }

    /// Whether it is agreement or politeness and nothing else.
    pub(super) fn is_bare(&self) -> bool {
        let polite =
            self.marks.opens(Cue::Agree) || self.marks.opens(Cue::Ack) || self.marks.has(Cue::Filler);
        self.words.is_empty() || (polite && self.words.len() <= 2 && self.values == 0)
    }
}

/// How many things in the text are concrete.
fn values(text: &str) -> usize {
    let code = text.split('`').skip(1).step_by(2).filter(|code| !code.is_empty()).count();
    let outside: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let words = outside.split_whitespace().filter(|word| is_value(word)).count();
    code + words
}

fn is_value(word: &str) -> bool {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    let quoted = word.len() > 2 && word.starts_with(['\'', '"', '“', '‘', '«', '„', '「', '『']);
    let loud = core.chars().count() >= 2
        && core.chars().any(char::is_uppercase)
        && core.chars().all(|c| c.is_uppercase() || c.is_numeric());
    quoted || loud || is_name(word) || core.chars().any(|c| c.is_ascii_digit())
}
