//! The threat model of SECURITY.md names a test for every answer; each of them must exist.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cargo;

/// The header of the column that names tests.
const TEST_COLUMN: &str = "test";

/// The names of all tests and modules of the workspace.
#[derive(Default)]
struct TestNames {
    tests: BTreeSet<String>,
    /// Paths of source files without their ending, relative to the crates.
    modules: BTreeSet<String>,
}

/// Tests that SECURITY.md names and that do not exist, and rows that name none; one line each.
pub(super) fn broken_rows() -> anyhow::Result<Vec<String>> {
    let root = cargo::root();
    let crates = root.join("crates");
    let mut names = TestNames::default();
    names.read(&crates, &crates)?;
    Ok(faults(&std::fs::read_to_string(root.join("SECURITY.md"))?, &names))
}

impl TestNames {
    fn read(&mut self, crates: &Path, folder: &Path) -> anyhow::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.read(crates, &path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = path.strip_prefix(crates)?.with_extension("");
                self.modules.insert(module.to_string_lossy().into_owned());
                self.add_tests(&std::fs::read_to_string(&path)?);
            }
        }
        Ok(())
    }

    /// Adds the functions behind a `#[test]` or the attribute of a runtime.
    fn add_tests(&mut self, source: &str) {
        let mut is_test = false;
        for line in source.lines().map(str::trim) {
            is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            let function = line.split_once("fn ").map(|(_, rest)| rest);
            if let Some(rest) = function.filter(|_| is_test && !line.starts_with("//")) {
                let name = rest.split(['(', '<']).next().unwrap_or_default();
                self.tests.insert(name.to_owned());
                is_test = false;
            }
        }
    }

    /// Whether a name of the page exists: `test`, `module::test`, `folder/module` or `module`.
    fn contains(&self, name: &str) -> bool {
        let is_test = name.rsplit("::").next().is_some_and(|test| self.tests.contains(test));
        is_test || self.modules.iter().any(|module| is_module(module, name))
    }
}

/// Whether the parts of `name` occur in this order among those of the module's path, or are its end.
fn is_module(module: &str, name: &str) -> bool {
    let mut parts = module.split('/');
    let in_order = name.split('/').all(|wanted| parts.any(|part| part == wanted));
    in_order && (parts.next().is_none() || !name.contains('/'))
}

fn faults(page: &str, names: &TestNames) -> Vec<String> {
    let mut faults = Vec::new();
    let mut has_tests = false;
    for (number, line) in page.lines().enumerate() {
        let Some(row) = line.strip_prefix('|') else {
            has_tests = false;
            continue;
        };
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default().trim();
        if cell == TEST_COLUMN {
            has_tests = true;
            continue;
        }
        if !has_tests || cell.chars().all(|c| c == '-') {
            continue;
        }
        let named: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        if named.is_empty() {
            faults.push(format!("SECURITY.md:{} names no test", number + 1));
        }
        let missing = named.iter().filter(|name| !names.contains(name));
        faults.extend(
            missing.map(|name| format!("SECURITY.md:{} names {name:?}, which does not exist", number + 1)),
        );
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> TestNames {
        let mut names = TestNames::default();
        names.add_tests("#[test]\nfn holds() {}\n#[tokio::test]\nasync fn waits() {}\nfn helper() {}\n");
        names.modules.insert("claude-mem/tests/faults/held_up".to_owned());
        names
    }

    #[test]
    fn named_tests_must_exist() {
        let page = "| who | test |\n|---|---|\n| a | `holds`, `faults::waits`, `faults/held_up` |\n| b | `gone` |\n\
            | c | `helper` |\n| d | none |\n\n| who | what |\n|---|---|\n| e | `anything` |\n";
        assert_eq!(
            faults(page, &names()),
            [
                "SECURITY.md:4 names \"gone\", which does not exist",
                "SECURITY.md:5 names \"helper\", which does not exist",
                "SECURITY.md:6 names no test",
            ]
        );
    }

    #[test]
    fn module_is_named_by_the_end_of_its_path_or_by_a_part() {
        for (name, known) in [
            ("faults/held_up", true),
            ("claude-mem/held_up", true),
            ("faults", true),
            ("held_up", true),
            ("claude-mem/faults", false),
            ("held", false),
        ] {
            assert_eq!(names().contains(name), known, "{name}");
        }
    }

    #[test]
    fn threat_model_names_tests_that_exist() -> anyhow::Result<()> {
        assert_eq!(broken_rows()?, [""; 0]);
        Ok(())
    }
}
