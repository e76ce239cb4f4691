//! Module cycles: no crate's source files form a dependency cycle.
//!
//! A file depends on the file that declares what it names by `crate::`, `super::`, `self::` or by a child
//! module's name. A re-export is followed to the file it comes from, so that a crate's facade in `lib.rs`
//! ties nothing together. Test code does not count. The scan is lexical: it reads what rustfmt writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::rust_source::{self, RustSource};
use crate::cargo;

/// A module's path below the crate root; the root itself is empty.
type ModulePath = Vec<String>;

/// The modules that each module uses.
type ModuleGraph = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// One source file of a crate.
#[derive(Debug)]
struct ModuleFile {
    module: ModulePath,
    /// Comments, strings and test modules are blanked.
    code: String,
}

/// The cycles of all crates, one line each.
pub(super) fn module_cycles() -> anyhow::Result<Vec<String>> {
    let mut cycles = Vec::new();
    for folder in std::fs::read_dir(cargo::root().join("crates"))? {
        let folder = folder?.path();
        let source = folder.join("src");
        if source.is_dir() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let graph = dependency_graph(&read_modules(&source)?);
            cycles
                .extend(strongly_connected(&graph).iter().map(|group| describe_cycle(&name, &graph, group)));
        }
    }
    cycles.sort();
    Ok(cycles)
}

/// Names each module of a cycle with those of the cycle that it uses.
fn describe_cycle(crate_name: &str, graph: &ModuleGraph, group: &[ModulePath]) -> String {
    let path = |module: &ModulePath| [&["crate".to_owned()], module.as_slice()].concat().join("::");
    let edges = group.iter().map(|module| {
        let used = graph[module].iter().filter(|target| group.contains(target)).map(path);
        format!("\n    {} uses {}", path(module), used.collect::<Vec<_>>().join(", "))
    });
    format!("{crate_name}: modules depend on each other in a cycle:{}", edges.collect::<String>())
}

fn read_modules(root: &Path) -> anyhow::Result<Vec<ModuleFile>> {
    Ok(rust_source::read_sources(root)?.into_iter().map(ModuleFile::from).collect())
}

/// The module of a file below the crate's source folder.
fn module_path(path: &Path) -> ModulePath {
    let mut module: ModulePath =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|name| matches!(name.as_str(), "mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

impl From<RustSource> for ModuleFile {
    fn from(source: RustSource) -> Self {
        Self { module: module_path(&source.path), code: with_inline_modules(&source.code) }
    }
}

/// Rewrites `super::` in inline modules, where it means the file itself.
fn with_inline_modules(code: &str) -> String {
    let mut inline = false;
    let lines = code.lines().map(|line| {
        let opens = line.ends_with('{') && (line.starts_with("mod ") || line.starts_with("pub(crate) mod "));
        inline = opens || (inline && line != "}");
        if inline { line.replace("super::", "self::") } else { line.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The dependencies of each file.
fn dependency_graph(files: &[ModuleFile]) -> ModuleGraph {
    let modules: BTreeSet<&[String]> = files.iter().map(|file| file.module.as_slice()).collect();
    let exports: BTreeMap<(&[String], String), ModulePath> = files
        .iter()
        .flat_map(|file| {
            let exported = imports(&file.code).into_iter().filter(|import| import.public);
            exported.filter_map(|import| {
                let path = absolute(&file.module, &import.path, &modules)?;
                Some(((file.module.as_slice(), import.name), path))
            })
        })
        .collect();
    let mut graph = BTreeMap::new();
    for file in files {
        let imported = imports(&file.code);
        let named = imported.iter().filter(|import| !import.public).map(|import| import.path.clone());
        let targets: BTreeSet<ModulePath> = named
            .chain(inline_paths(&file.code))
            .filter_map(|path| absolute(&file.module, &path, &modules))
            .filter_map(|path| declaring_module(path, &modules, &exports))
            .filter(|target| *target != file.module)
            .collect();
        graph.insert(file.module.clone(), targets);
    }
    graph
}

/// The file that declares the item of an absolute path, re-exports followed.
fn declaring_module(
    mut path: Vec<String>,
    modules: &BTreeSet<&[String]>,
    exports: &BTreeMap<(&[String], String), ModulePath>,
) -> Option<ModulePath> {
    for _ in 0..8 {
        let length = (0..=path.len()).rev().find(|n| modules.contains(&path[..*n]))?;
        let (module, rest) = path.split_at(length);
        let Some(export) = rest.first().and_then(|name| exports.get(&(module, name.clone()))) else {
            return Some(module.to_vec());
        };
        path = export.iter().chain(&rest[1..]).cloned().collect();
    }
    None
}

/// The path below the crate root; `None` if it leads out of the crate.
fn absolute(here: &[String], path: &[String], modules: &BTreeSet<&[String]>) -> Option<Vec<String>> {
    let first = path.first()?.as_str();
    let mut base = match first {
        "crate" => Vec::new(),
        "self" => here.to_vec(),
        "super" => here[..here.len().checked_sub(1)?].to_vec(),
        name => {
            let mut child = here.to_vec();
            child.push(name.to_owned());
            if !modules.contains(child.as_slice()) {
                return None;
            }
            child
        }
    };
    for part in &path[1..] {
        if part == "super" {
            base.pop()?;
        } else if part != "self" {
            base.push(part.clone());
        }
    }
    Some(base)
}

/// One leaf of a `use` statement.
#[derive(Debug)]
struct ImportLeaf {
    path: Vec<String>,
    /// The name it gets here.
    name: String,
    public: bool,
}

fn imports(code: &str) -> Vec<ImportLeaf> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let line_start = code[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = code[line_start..at].trim();
        let is_statement = before.is_empty() || before.starts_with("pub");
        if let (true, Some(end)) = (is_statement, code[at..].find(';')) {
            let tree: String = code[at + 4..at + end].split_whitespace().collect::<Vec<_>>().join(" ");
            leaves(&[], &tree, !before.is_empty(), &mut found);
        }
    }
    found
}

fn leaves(prefix: &[String], tree: &str, public: bool, found: &mut Vec<ImportLeaf>) {
    let tree = tree.trim();
    if let Some((head, group)) = tree.split_once('{') {
        let mut base = prefix.to_vec();
        base.extend(segments(head));
        let group = group.strip_suffix('}').unwrap_or(group);
        let (mut depth, mut start) = (0_i32, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    leaves(&base, &group[start..at], public, found);
                    start = at + 1;
                }
                _ => {}
            }
        }
        leaves(&base, &group[start..], public, found);
    } else if !tree.is_empty() {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
        let mut whole = prefix.to_vec();
        whole.extend(segments(path));
        let last = whole.last().cloned().unwrap_or_default();
        let name = alias.map_or(last, |alias| alias.trim().to_owned());
        found.push(ImportLeaf { path: whole, name, public });
    }
}

fn segments(path: &str) -> impl Iterator<Item = String> {
    path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned)
}

/// Paths in expressions and types.
fn inline_paths(code: &str) -> Vec<Vec<String>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, _) in code.match_indices("::") {
        let start = code[..at].rfind(|c| !is_word(c)).map_or(0, |end| end + 1);
        let joined = code[..start].ends_with("::") || code[..start].ends_with('.');
        if start == at || joined {
            continue;
        }
        let end = code[start..].find(|c| !is_word(c) && c != ':').map_or(code.len(), |end| start + end);
        if code[start..end].ends_with("::") && code[end..].starts_with('{') {
            // The head of a `use` group, whose leaves are read on their own.
            continue;
        }
        found.push(segments(&code[start..end]).collect());
    }
    found
}

/// Groups of two and more modules that all reach each other.
fn strongly_connected(graph: &ModuleGraph) -> Vec<Vec<ModulePath>> {
    let reach: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
        graph.keys().map(|start| (start, reachable(graph, start))).collect();
    let mut seen = BTreeSet::new();
    let mut groups = Vec::new();
    for start in graph.keys().filter(|start| reach[start].contains(start)) {
        let group: Vec<ModulePath> = graph
            .keys()
            .filter(|other| reach[start].contains(other) && reach[other].contains(start))
            .cloned()
            .collect();
        if group.iter().all(|module| seen.insert(module.clone())) {
            groups.push(group);
        }
    }
    groups
}

fn reachable<'a>(graph: &'a ModuleGraph, start: &'a ModulePath) -> BTreeSet<&'a ModulePath> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&ModulePath> = graph[start].iter().collect();
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(graph.get(module).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn file(module: &str, code: &str) -> ModuleFile {
        let path: PathBuf =
            if module.is_empty() { "lib.rs".into() } else { module.replace("::", "/").into() };
        ModuleFile::from(RustSource::parse(path, code))
    }

    fn cycles(files: &[ModuleFile]) -> Vec<Vec<ModulePath>> {
        strongly_connected(&dependency_graph(files))
    }

    #[test]
    fn cycle_of_two_files_is_found() {
        let files = [
            file("", "mod a;\nmod b;\npub use a::First;\n"),
            file("a", "use crate::b::Second;\npub struct First;\n"),
            file("b", "use super::a;\nfn f() { a::g(); }\n"),
        ];
        assert_eq!(cycles(&files), [[["a"], ["b"]]]);
    }

    #[test]
    fn facade_does_not_tie_files_together() {
        let files = [
            file("", "mod a;\nmod b;\npub use a::First;\npub use b::Second;\n"),
            file("a", "pub struct First;\n"),
            file("b", "use crate::First;\npub struct Second(First);\n"),
        ];
        assert_eq!(cycles(&files), [[[""; 0]; 0]; 0]);
    }

    #[test]
    fn group_import_through_a_facade_does_not_tie_files_together() {
        let files = [
            file("a", "mod b;\nmod c;\npub use b::{First, run};\npub use c::Second;\n"),
            file("a::b", "use super::{Second};\npub struct First(Second);\n"),
            file("a::c", "pub struct Second;\n"),
        ];
        assert_eq!(cycles(&files), [[[""; 0]; 0]; 0]);
    }

    #[test]
    fn super_in_an_inline_module_is_the_file_itself() {
        let files = [
            file("", "mod a;\nfn f() { a::g(); }\n"),
            file("a", "mod tables {\n    use super::First;\n}\npub struct First;\n"),
        ];
        assert_eq!(cycles(&files), [[[""; 0]; 0]; 0]);
    }

    #[test]
    fn tests_comments_and_strings_do_not_count() {
        let files = [
            file(
                "a",
                "// crate::b::x\nconst S: &str = \"crate::b\";\n#[cfg(test)]\nmod tests {\n    use crate::b::Second;\n}\n",
            ),
            file("b", "use crate::a::First;\nconst C: char = '\\'';\n"),
        ];
        assert_eq!(cycles(&files), [[[""; 0]; 0]; 0]);
    }

    #[test]
    fn parent_and_child_that_use_each_other_are_a_cycle() {
        let files = [
            file("a", "mod b;\npub struct First;\nfn f() { b::g(); }\n"),
            file("a::b", "use super::First;\npub fn g() -> First { First }\n"),
        ];
        assert_eq!(cycles(&files).len(), 1);
    }
}
