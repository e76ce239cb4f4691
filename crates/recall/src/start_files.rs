//! The files that matter here: those that the latest sessions edited and read, grouped by directory.

use std::collections::HashMap;
use std::path::Path;

use super::quote;
use claude_mem_core::tokens;
use claude_mem_store::SessionFile;

/// Sessions whose files count.
pub(super) const SESSIONS: u32 = 25;
/// What a file counts that was read and not edited.
const READ_WEIGHT: f64 = 0.35;
/// How fast older sessions count less: 1 / (1 + sessions ago) to this power.
const AGE_EXPONENT: f64 = 0.7;
/// Files ranked; more do not fit into any budget.
const FILES_MAX: usize = 120;
const NAME_CHARS_MAX: usize = 80;
const HEADING: &str = "\n## Files that matter here, by directory\n";

/// Paths relative to the project's root, the likeliest to be needed first.
pub(super) fn rank_files(files: &[SessionFile], root: &Path) -> Vec<String> {
    let mut scores: HashMap<&str, f64> = HashMap::new();
    for file in files.iter().filter(|file| !is_outside(&file.path) && !is_masked(&file.path)) {
        let weight = if file.edited { 1.0 } else { READ_WEIGHT };
        *scores.entry(&file.path).or_default() +=
            weight / (1.0 + f64::from(file.sessions_ago)).powf(AGE_EXPONENT);
    }
    let mut ranked: Vec<(&str, f64)> = scores.into_iter().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    ranked.truncate(FILES_MAX);
    let exists: Vec<bool> = ranked.iter().map(|(path, _)| root.join(path).exists()).collect();
    // Where hardly anything exists the directory is another one, and says nothing about the files.
    let is_checkout = exists.iter().filter(|exists| **exists).count() * 2 >= ranked.len();
    let kept = ranked.iter().zip(exists).filter(|(_, exists)| *exists || !is_checkout);
    kept.map(|((path, _), _)| (*path).to_owned()).collect()
}

fn is_outside(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.starts_with("..") || path.is_empty()
}

/// Whether redaction masked a part of the path: nobody can open it.
fn is_masked(path: &str) -> bool {
    path.contains("[redacted:")
}

/// The files of one directory, and of directories below it.
struct FileGroup {
    folder: String,
    names: Vec<String>,
    /// Relative to the folder, with their files.
    below: Vec<(String, Vec<String>)>,
}

/// `- src/auth/: cookie.rs, session.rs; dto/: login.rs`, as many files as fit; empty if there are none.
pub(super) fn render_files(paths: &[String], budget_tokens: u32) -> String {
    let mut groups: Vec<FileGroup> = Vec::new();
    let mut left = budget_tokens.saturating_sub(tokens::estimate(HEADING));
    for path in paths {
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) => (format!("{folder}/"), name),
            None => ("./".to_owned(), path.as_str()),
        };
        let (folder, name) = (quote::line(&folder, NAME_CHARS_MAX), quote::line(name, NAME_CHARS_MAX));
        let place = GroupPlace::find(&groups, &folder);
        let cost = tokens::estimate(&name) + 1 + place.heading_tokens(&groups, &folder);
        if cost > left {
            continue;
        }
        left -= cost;
        match place {
            GroupPlace::Group(at) => groups[at].names.push(name),
            GroupPlace::Below(at, Some(below)) => groups[at].below[below].1.push(name),
            GroupPlace::Below(at, None) => {
                let relative = folder[groups[at].folder.len()..].to_owned();
                groups[at].below.push((relative, vec![name]));
            }
            GroupPlace::New => groups.push(FileGroup { folder, names: vec![name], below: Vec::new() }),
        }
    }
    if groups.is_empty() {
        return String::new();
    }
    HEADING.to_owned() + &groups.iter().map(FileGroup::line).collect::<String>()
}

/// Where the files of a directory are listed.
enum GroupPlace {
    Group(usize),
    /// Below a group, in a part that exists or is new.
    Below(usize, Option<usize>),
    New,
}

impl GroupPlace {
    fn find(groups: &[FileGroup], folder: &str) -> Self {
        if let Some(at) = groups.iter().position(|group| group.folder == folder) {
            return Self::Group(at);
        }
        // The nearest one of several.
        let above = groups.iter().enumerate().filter(|(_, group)| folder.starts_with(&group.folder));
        let Some((at, group)) = above.max_by_key(|(_, group)| group.folder.len()) else {
            return Self::New;
        };
        let relative = &folder[group.folder.len()..];
        Self::Below(at, group.below.iter().position(|(below, _)| below == relative))
    }

    fn heading_tokens(&self, groups: &[FileGroup], folder: &str) -> u32 {
        match self {
            Self::Group(_) | Self::Below(_, Some(_)) => 0,
            Self::Below(at, None) => {
                let relative = &folder[groups[*at].folder.len()..];
                tokens::estimate(&format!("; {relative}:")) + 1
            }
            Self::New => tokens::estimate(&format!("- {folder}:\n")),
        }
    }
}

impl FileGroup {
    fn line(&self) -> String {
        let mut out = format!("- {}: {}", self.folder, self.names.join(", "));
        for (folder, names) in &self.below {
            out.push_str(&format!("; {folder}: {}", names.join(", ")));
        }
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use claude_mem_core::ids::SessionId;

    fn file(sessions_ago: u32, path: &str, edited: bool) -> SessionFile {
        SessionFile { session: SessionId(i64::from(sessions_ago)), sessions_ago, path: path.into(), edited }
    }

    #[test]
    fn edited_and_recent_files_come_first_and_outside_or_masked_ones_never() {
        let files = [
            file(0, "src/read.rs", false),
            file(1, "src/edited.rs", true),
            file(20, "src/old.rs", true),
            file(2, "src/often.rs", true),
            file(3, "src/often.rs", true),
            file(0, "/tmp/scratch.txt", true),
            file(0, "src/[redacted:api-key].rs", true),
        ];
        let ranked = rank_files(&files, Path::new("/nowhere"));
        assert_eq!(ranked, ["src/often.rs", "src/edited.rs", "src/read.rs", "src/old.rs"]);
    }

    #[test]
    fn deleted_files_of_a_checkout_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.rs", "b.rs"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let files = [file(0, "a.rs", true), file(0, "b.rs", true), file(0, "gone.rs", true)];
        assert_eq!(rank_files(&files, dir.path()), ["a.rs", "b.rs"]);
    }

    #[test]
    fn files_are_grouped_and_stay_within_the_budget() {
        let paths = ["src/a/x.ts", "lib/y.ts", "src/a/z.ts", "README.md"].map(str::to_owned);
        let all = render_files(&paths, 200);
        assert_eq!(all, format!("{HEADING}- src/a/: x.ts, z.ts\n- lib/: y.ts\n- ./: README.md\n"));
        let nested = ["src/a/x.ts", "src/a/b/y.ts", "src/a/b/c/z.ts", "src/a/b/w.ts"].map(str::to_owned);
        assert_eq!(
            render_files(&nested, 200),
            format!("{HEADING}- src/a/: x.ts; b/: y.ts, w.ts; b/c/: z.ts\n")
        );
        let many: Vec<String> = (0..100).map(|n| format!("src/module{n}/file{n}.rs")).collect();
        for budget in [0, 20, 60, 300] {
            assert!(tokens::estimate(&render_files(&many, budget)) <= budget, "{budget}");
        }
    }
}
