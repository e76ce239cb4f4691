//! Restores a slash command from the wrapper in which the client records it.

use super::tags;

/// Client commands that send no prompt to the model, separated by spaces.
const LOCAL_COMMANDS: &str = "add-dir agents bug clear color compact config context copy cost doctor \
    effort exit export extra-usage fast feedback help hooks ide install-github-app keybindings login \
    logout mcp memory migrate-installer mobile model output-style permissions plugin \
    privacy-settings quit release-notes reload-plugins remote-control rename resume rewind sandbox \
    skills stats status statusline stickers tasks terminal-setup theme upgrade usage vim voice";

/// A command that sends a prompt only if it has arguments.
const PLAN_COMMAND: &str = "plan";

/// Restores a slash command such as `/review 123` as the user typed it and as hooks report it. Only its
/// arguments are words of the user. `None` if the client handles the command itself.
pub(super) fn restore_command(text: &str) -> Option<String> {
    let name = tags::tag_content(text, "command-name").unwrap_or_default().trim();
    let bare = name.trim_start_matches('/');
    if bare.is_empty() || is_local_command(bare) {
        return None;
    }
    let args = tags::outer_content(text, "command-args").unwrap_or_default().trim();
    if bare == PLAN_COMMAND && args.is_empty() {
        return None;
    }
    let typed = format!("/{bare} {args}");
    Some(typed.trim_end().to_owned())
}

/// Whether the client handles the command itself.
fn is_local_command(name: &str) -> bool {
    LOCAL_COMMANDS.split_ascii_whitespace().any(|local| local == name)
}

/// Whether a typed line is a command that the client handles itself.
pub fn is_local_command_line(line: &str) -> bool {
    let name = line.trim().strip_prefix('/').and_then(|line| line.split_whitespace().next());
    name.is_some_and(is_local_command)
}
