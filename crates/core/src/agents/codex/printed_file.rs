//! Finds the file that a command prints: Codex has no tool that reads a file.

use std::path::Path;

/// Characters by which a command does more than print one file.
const SHELL_CHARACTERS: [char; 16] =
    ['|', ';', '&', '<', '>', '$', '`', '(', ')', '{', '}', '*', '?', '\\', '\n', '~'];

/// The absolute path of the file, if the command prints one file and does nothing else.
pub(super) fn printed_file(command: &str, cwd: &str) -> Option<String> {
    if command.contains(SHELL_CHARACTERS) {
        return None;
    }
    let mut words = command.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
    let program = words.next()?;
    let has_script = match program {
        "cat" | "head" | "tail" | "nl" | "less" | "bat" => false,
        "sed" => true,
        _ => return None,
    };
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let operands: Vec<&str> = words.filter(|word| !word.starts_with('-') && !is_number(word)).collect();
    let path = match (operands.as_slice(), has_script) {
        ([path], false) => path,
        // A script that changes the file is not of this form.
        ([script, path], true) if command.starts_with("sed -n ") && script.ends_with('p') => path,
        _ => return None,
    };
    Some(Path::new(cwd).join(path).to_string_lossy().into_owned())
}
