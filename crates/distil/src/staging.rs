//! The paths that `git add` names before a commit: a commit holds these changes and no others.

use crate::commands::CommandRun;
use crate::shell::SimpleCommand;

/// What was staged since the last commit.
#[derive(Debug, Default)]
pub(crate) struct StagedPaths {
    named: Vec<String>,
    /// Everything was staged, or paths that cannot be told.
    open: bool,
}

impl StagedPaths {
    /// Reads the commands of a call that stage something.
    pub(crate) fn read(&mut self, run: &CommandRun) {
        // Behind `cd` a path names another file than from the root.
        let moves = run.simples.iter().any(|simple| matches!(simple.program(), "cd" | "pushd"));
        for simple in &run.simples {
            self.read_command(simple, moves);
        }
    }

    fn read_command(&mut self, simple: &SimpleCommand, moves: bool) {
        let words = simple.bare();
        if simple.program() != "git" {
            return;
        }
        match words.get(1).map(String::as_str) {
            Some("add" | "rm" | "mv") => {
                let (options, paths): (Vec<&str>, Vec<&str>) =
                    words.iter().skip(2).map(String::as_str).partition(|word| word.starts_with('-'));
                let all = options.iter().any(|option| matches!(*option, "-A" | "--all" | "-u" | "--update"));
                self.open |= moves || all || paths.is_empty() || paths.iter().any(|path| is_open(path));
                self.named.extend(paths.into_iter().map(str::to_owned));
            }
            Some("commit") => {
                let all = |word: &String| {
                    let bundle = word.starts_with('-') && !word.starts_with("--") && word.len() <= 5;
                    word == "--all" || (bundle && word.contains('a'))
                };
                self.open |= words.iter().skip(2).any(all);
            }
            // `git -C elsewhere …`.
            Some(word) if word.starts_with('-') => self.open = true,
            _ => {}
        }
    }

    /// The paths of the commit that was just made and printed this; empty if they are not known.
    pub(crate) fn take(&mut self, output: &str) -> Vec<String> {
        let mut taken = std::mem::take(self);
        for line in output.lines() {
            if let Some((_, path)) =
                line.trim().strip_prefix("create mode ").and_then(|rest| rest.split_once(' '))
                && !taken.named.iter().any(|known| known == path)
            {
                taken.named.push(path.to_owned());
            }
        }
        // What was staged in another turn, or by another program, is not named here.
        let complete =
            files_changed(output).is_none_or(|count| count <= taken.named.len() || taken.has_folder());
        if taken.open || !complete { Vec::new() } else { taken.named }
    }

    fn has_folder(&self) -> bool {
        self.named.iter().any(|path| !names_a_file(path))
    }
}

/// " 3 files changed, 7 insertions(+)" → 3.
fn files_changed(output: &str) -> Option<usize> {
    output.lines().find_map(|line| {
        let (count, rest) = line.trim().split_once(' ')?;
        (rest.starts_with("file changed") || rest.starts_with("files changed")).then(|| count.parse().ok())?
    })
}

/// "src/list.rs": the path of a file in the project rather than of a folder.
pub(crate) fn names_a_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.trim_start_matches('.').contains('.') && !path.starts_with(['/', '~']) && !path.starts_with("..")
}

/// Whether a path stands for files that it does not name: the whole tree, a pattern, a variable.
fn is_open(path: &str) -> bool {
    matches!(path, "." | "./" | ":/" | "*") || path.contains(['*', '$', '?', '{', '~'])
}

/// Whether a changed file is one of the staged paths or lies in one of them.
pub(crate) fn is_staged(file: &str, staged: &[String]) -> bool {
    let in_folder =
        |path: &String| file.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'));
    staged.iter().any(|path| path == file || in_folder(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged(command: &str) -> Vec<String> {
        let mut paths = StagedPaths::default();
        for simple in crate::shell::parse(command) {
            paths.read_command(&simple, command.starts_with("cd "));
        }
        paths.take("")
    }

    #[test]
    fn only_paths_named_for_the_commit_are_staged() {
        assert_eq!(staged("git add src/list.rs docs && git commit -m \"fix: x\""), ["src/list.rs", "docs"]);
        for unknown in [
            "git add -A && git commit -m \"fix: x\"",
            "git add . && git commit -m \"fix: x\"",
            "git add src/list.rs && git commit -am \"fix: x\"",
            "git add src/*.rs && git commit -m \"fix: x\"",
            "cd web && git add list.ts && git commit -m \"fix: x\"",
            "git commit -m \"fix: x\"",
        ] {
            assert_eq!(staged(unknown), [""; 0], "{unknown}");
        }
    }

    #[test]
    fn output_of_the_commit_completes_or_refutes_what_was_named() {
        let staged = |output: &str| {
            let named = vec!["src/list.rs".to_owned()];
            StagedPaths { named, open: false }.take(output)
        };
        let created = " 2 files changed, 9 insertions(+)\n create mode 100644 src/page.rs\n";
        assert_eq!(staged(created), ["src/list.rs", "src/page.rs"]);
        assert_eq!(staged(" 3 files changed, 9 insertions(+)"), [""; 0]);
    }

    #[test]
    fn file_below_a_staged_folder_is_staged() {
        let paths = ["docs".to_owned(), "src/list.rs".to_owned()];
        assert!(is_staged("docs/list.md", &paths));
        assert!(is_staged("src/list.rs", &paths));
        assert!(!is_staged("docs.md", &paths));
        assert!(!is_staged("src/list.rs.bak", &paths));
    }
}
