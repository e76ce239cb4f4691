//! `docs/configuration.md`, made from the table of keys.

use std::fmt::Write as _;

use super::keys::{KEYS, Key, VARIABLES};
use super::kind::Kind;

const OPENING: &str = "\
# Configuration

<!-- Made by `claude-mem config reference` from crates/claude-mem/src/config/keys.rs. -->

Settings live in `settings.json` in the data directory (`~/.claude-mem`, or wherever
`CLAUDE_MEM_DATA_DIR` says). The file may hold comments. Every setting can also be given in the
environment, as `CLAUDE_MEM_` and its name in capitals; the environment wins over the file, the
file over the default.

```console
$ claude-mem config                       # every setting, its value and where it comes from
$ claude-mem config set context_tokens 800
$ claude-mem config unset context_tokens  # back to the default
$ CLAUDE_MEM_CONTEXT=off claude           # once
```

A value that cannot be read never stops anything: it is reported by `claude-mem config` and
`claude-mem status`, and the next source's value is taken.
";

/// The whole page.
pub fn markdown() -> String {
    let mut page = OPENING.to_owned();
    let mut group = "";
    for key in KEYS {
        if key.group != group {
            group = key.group;
            let _ = write!(page, "\n## {group}\n");
        }
        section(&mut page, key);
    }
    page.push_str("\n## Variables that are not settings\n\n");
    for (name, help) in VARIABLES {
        let _ = writeln!(page, "- `{name}`: {help}");
    }
    page.push_str(
        "\n## Settings of the earlier program\n\n\
         Its upper-case `CLAUDE_MEM_…` keys in the same file are understood where they mean the \
         same;\nthose that mean nothing here are left alone.\n",
    );
    page
}

fn section(page: &mut String, key: &Key) {
    let default = match (key.default, key.kind) {
        ("", Kind::List(_)) => "none".to_owned(),
        ("", _) => "empty".to_owned(),
        (text, _) => format!("`{text}`"),
    };
    let secret = if key.is_secret() { " Never shown." } else { "" };
    let _ = write!(
        page,
        "\n### `{}`\n\n{}\n\n{}. Default: {default}.{secret}\n",
        key.name,
        key.help,
        capitalised(&key.kind.expects()),
    );
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}
