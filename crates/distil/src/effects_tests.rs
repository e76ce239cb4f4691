use super::*;
use crate::effect::{listed, told};

fn words(path: &str, old: &str, new: &str, file: Option<&str>) -> Vec<String> {
    let change = Change::replaced(path, old, new, file);
    effects_of(&change).iter().map(Effect::in_words).collect()
}

#[test]
fn a_change_is_told_by_what_it_does() {
    for (path, old, new, want) in [
        ("a.py", "MAX = int(env('M', 10))", "MAX = int(env('M', 7))", vec!["`MAX` 10 → 7"]),
        (
            "a.rs",
            "fn load(p: &Path) -> C {\n    x\n}",
            "fn load(p: &Path, strict: bool) -> C {\n    x\n}",
            vec!["`load(p: &Path) -> C` becomes `load(p: &Path, strict: bool) -> C`"],
        ),
        (
            "a.py",
            "def merge(a):\n    return a",
            "def combine(a):\n    return a",
            vec!["renames `merge` to `combine`"],
        ),
        ("a.ts", "x", "x\nexport function load(id: string) {\n  return id;\n}", vec!["adds `load()`"]),
        ("a.go", "x\nfunc Old() {\n}", "x", vec!["removes `Old()`"]),
        ("a.test.ts", "x", "x\nit('keeps order', () => {\n})", vec!["adds the test “keeps order”"]),
        ("a.yml", "replicas: 3", "replicas: 5", vec!["`replicas` 3 → 5"]),
        (
            "a.json",
            "\"react\": \"^18.2.0\",",
            "\"react\": \"^19.0.0\",",
            vec!["`react` \"^18.2.0\" → \"^19.0.0\""],
        ),
        ("a.py", "import a", "import b", vec![]),
        ("a.py", "x = 1", "x = 1   ", vec![]),
        ("README.md", "a", "a\n## Installing", vec!["adds “Installing”"]),
    ] {
        assert_eq!(words(path, old, new, None), want, "{path}: {old} → {new}");
    }
}

#[test]
fn a_place_inside_a_function_is_told_with_its_name() {
    let file = "class R:\n    def run(self):\n        if n > 3:\n            stop()\n        go()\n";
    assert_eq!(
        words("a.py", "        if n > 3:", "        if n >= 3:", Some(file)),
        ["in `R.run`, `if n > 3:` becomes `if n >= 3:`"]
    );
    assert_eq!(
        words(
            "a.py",
            "        go()\n",
            "        if self.x is None:\n            raise ValueError('x')\n        go()\n",
            Some(file)
        ),
        ["`R.run` raises `ValueError` if `self.x is None`"]
    );
}

#[test]
fn a_comment_that_says_why_is_kept() {
    let new =
        "x = 1\n# The window resets after 13 s, so an eighth\n# attempt would always be refused.\ny = 2";
    let said = words("a.py", "x = 1\ny = 2", new, None);
    assert_eq!(said, ["The window resets after 13 s, so an eighth attempt would always be refused."]);
}

#[test]
fn a_new_file_says_what_it_is_for() {
    let change =
        Change::written("q.rs", "//! The durable inbox. More.\n\npub struct Event;\npub fn take() {}\n");
    let effects = effects_of(&change);
    assert_eq!(told("q.rs", &effects, 4), "q.rs (new): The durable inbox; adds `Event` and `take()`");
}

#[test]
fn many_names_become_a_number() {
    let names: Vec<String> = (0..8).map(|n| format!("`f{n}()`")).collect();
    assert_eq!(listed(&names), "`f0()`, `f1()`, `f2()`, `f3()` and 4 more");
}
