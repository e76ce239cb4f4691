//! Changes of a file as removed and added lines, from any editing tool.

use crate::limits::DISTIL_TEXT_BYTES_MAX;
use serde_json::Value;

use super::outputs::field;
use super::text::head;

/// Maximum hunks that are read of one change to a file.
const DISTIL_HUNKS_MAX: usize = 64;

/// Maximum cells of the comparison matrix; larger texts are compared as wholes.
const DIFF_CELLS_MAX: usize = 40_000;

/// Lines above a place that are kept to find out what it stands in.
const ABOVE_LINES_MAX: usize = 400;

/// One contiguous change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PatchHunk {
    /// Lines above the first changed one, nearest last: where the change is.
    pub above: Vec<String>,
    pub removed: Vec<String>,
    pub added: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PatchedFile {
    /// Relative to the project's root.
    pub path: String,
    pub hunks: Vec<PatchHunk>,
    /// The file did not exist before.
    pub created: bool,
    pub deleted: bool,
}

impl PatchedFile {
    /// Lines put in, over all places.
    pub(super) fn added(&self) -> impl Iterator<Item = &str> {
        self.hunks.iter().flat_map(|hunk| hunk.added.iter().map(String::as_str))
    }

    pub(super) fn removed(&self) -> impl Iterator<Item = &str> {
        self.hunks.iter().flat_map(|hunk| hunk.removed.iter().map(String::as_str))
    }

    /// A new file.
    pub(super) fn written(path: &str, content: &str) -> Self {
        let added = lines(content);
        Self {
            path: path.to_owned(),
            hunks: vec![PatchHunk { added, ..PatchHunk::default() }],
            created: true,
            deleted: false,
        }
    }

    /// A replaced text, with the lines above it if the file is known.
    pub(super) fn replaced(path: &str, old: &str, new: &str, original: Option<&str>) -> Self {
        let mut hunks = diff(&lines(old), &lines(new));
        let before = original.and_then(|file| file.find(old).map(|at| &file[..at]));
        if let (Some(before), Some(first)) = (before, hunks.first_mut()) {
            let mut above = lines(before);
            above.append(&mut first.above);
            first.above = above;
        }
        Self { path: path.to_owned(), hunks, ..Self::default() }
    }
}

fn lines(text: &str) -> Vec<String> {
    head(text, DISTIL_TEXT_BYTES_MAX).lines().map(str::to_owned).collect()
}

/// The change that an editing tool made, from its input and its result.
pub(super) fn of_edit(path: &str, input: &Value, output: &Value) -> PatchedFile {
    let original = field(output, &["originalFile", "originalContent"]);
    let patched = structured(output, original);
    if !patched.is_empty() {
        return PatchedFile { path: path.to_owned(), hunks: patched, ..PatchedFile::default() };
    }
    let pairs: Vec<(&str, &str)> = match input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().take(DISTIL_HUNKS_MAX).filter_map(pair).collect(),
        None => pair(input).into_iter().collect(),
    };
    if !pairs.is_empty() {
        let mut change = PatchedFile { path: path.to_owned(), ..PatchedFile::default() };
        for (old, new) in pairs {
            change.hunks.extend(PatchedFile::replaced(path, old, new, original).hunks);
        }
        change.hunks.truncate(DISTIL_HUNKS_MAX);
        return change;
    }
    let content = field(input, &["content", "new_source", "file_text"]).unwrap_or_default();
    if let Some(old) = original {
        return PatchedFile::replaced(path, old, content, None);
    }
    let updates = field(output, &["type"]) == Some("update");
    PatchedFile { created: !updates, ..PatchedFile::written(path, content) }
}

fn pair(edit: &Value) -> Option<(&str, &str)> {
    let text = |names: [&str; 2]| names.iter().find_map(|name| edit.get(name).and_then(Value::as_str));
    Some((text(["old_string", "oldString"])?, text(["new_string", "newString"])?))
}

/// The hunks that the client computed itself.
fn structured(output: &Value, original: Option<&str>) -> Vec<PatchHunk> {
    let Some(patch) = output.get("structuredPatch").and_then(Value::as_array) else {
        return Vec::new();
    };
    let file: Vec<&str> = original.map(|text| text.lines().collect()).unwrap_or_default();
    let mut hunks = Vec::new();
    for part in patch.iter().take(DISTIL_HUNKS_MAX) {
        let start = part.get("oldStart").and_then(Value::as_u64).unwrap_or(1).saturating_sub(1);
        let above = file.get(..usize::try_from(start).unwrap_or(0).min(file.len())).unwrap_or_default();
        let lines = part.get("lines").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let marked = lines.iter().filter_map(Value::as_str);
        hunks.extend(of_marked_lines(marked, above.iter().map(|line| (*line).to_owned()).collect()));
    }
    hunks.truncate(DISTIL_HUNKS_MAX);
    hunks
}

/// Hunks of lines that are marked `+`, `-` or blank. Unchanged lines part one place from the next.
pub(super) fn of_marked_lines<'a>(
    marked: impl Iterator<Item = &'a str>,
    above: Vec<String>,
) -> Vec<PatchHunk> {
    let (mut hunks, mut above) = (Vec::new(), above);
    let mut open: Option<PatchHunk> = None;
    for line in marked {
        let (mark, text) = line.split_at_checked(1).unwrap_or(("", line));
        match mark {
            "-" => open.get_or_insert_with(|| place(&above)).removed.push(text.to_owned()),
            "+" => open.get_or_insert_with(|| place(&above)).added.push(text.to_owned()),
            "\\" => continue,
            _ => {
                hunks.extend(open.take());
                above.push(text.to_owned());
                continue;
            }
        }
        above.push(text.to_owned());
    }
    hunks.extend(open);
    hunks
}

fn place(above: &[String]) -> PatchHunk {
    let from = above.len().saturating_sub(ABOVE_LINES_MAX);
    PatchHunk { above: above[from..].to_vec(), ..PatchHunk::default() }
}

/// The places in which two texts differ.
fn diff(old: &[String], new: &[String]) -> Vec<PatchHunk> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    let above = old[..head].to_vec();
    if old_middle.is_empty() && new_middle.is_empty() {
        return Vec::new();
    }
    if old_middle.len() * new_middle.len() > DIFF_CELLS_MAX {
        let (removed, added) = (old_middle.to_vec(), new_middle.to_vec());
        return vec![PatchHunk { above, removed, added }];
    }
    let marked = mark_common(old_middle, new_middle);
    of_marked_lines(marked.iter().map(String::as_str), above)
}

/// Both texts as one sequence of marked lines, by their longest common subsequence.
fn mark_common(old: &[String], new: &[String]) -> Vec<String> {
    let width = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut marked) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            marked.push(format!(" {}", old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || longest[(i + 1) * width + j] >= longest[i * width + j + 1])
        {
            marked.push(format!("-{}", old[i]));
            i += 1;
        } else {
            marked.push(format!("+{}", new[j]));
            j += 1;
        }
    }
    marked
}

/// The changes of a patch in text form: `*** Update File: …` as agents write it, or `diff --git`.
pub(super) fn of_text(patch: &str) -> Vec<PatchedFile> {
    let mut changes: Vec<PatchedFile> = Vec::new();
    let mut body: Vec<&str> = Vec::new();
    for line in head(patch, DISTIL_TEXT_BYTES_MAX).lines() {
        if let Some((path, created, deleted)) = file_header(line) {
            close(&mut changes, &mut body);
            changes.push(PatchedFile { path: path.to_owned(), created, deleted, ..PatchedFile::default() });
        } else if line.starts_with("@@") {
            close(&mut changes, &mut body);
        } else if !line.starts_with("---") && !line.starts_with("*** ") {
            body.push(line);
        }
        if changes.len() >= DISTIL_HUNKS_MAX {
            break;
        }
    }
    close(&mut changes, &mut body);
    changes
}

fn file_header(line: &str) -> Option<(&str, bool, bool)> {
    for (header, created, deleted) in [
        ("*** Update File: ", false, false),
        ("*** Add File: ", true, false),
        ("*** Delete File: ", false, true),
        ("+++ b/", false, false),
        ("+++ ", false, false),
    ] {
        if let Some(path) = line.strip_prefix(header) {
            return Some((path.trim(), created, deleted));
        }
    }
    None
}

fn close(changes: &mut [PatchedFile], body: &mut Vec<&str>) {
    let lines = std::mem::take(body);
    if let Some(change) = changes.last_mut() {
        change.hunks.extend(of_marked_lines(lines.into_iter(), Vec::new()));
        change.hunks.truncate(DISTIL_HUNKS_MAX);
    }
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
