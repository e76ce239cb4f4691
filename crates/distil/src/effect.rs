//! One thing that a change does, and how it is told.

use super::symbols::Kind;

/// Names told of one kind of effect; the rest is a number.
const NAMES_MAX: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A file that was not there, with what it says it is for.
    NewFile {
        about: String,
    },
    Deleted,
    Added {
        kind: Kind,
        name: String,
    },
    Removed {
        kind: Kind,
        name: String,
    },
    Renamed {
        from: String,
        to: String,
    },
    Signature {
        before: String,
        after: String,
    },
    Value {
        name: String,
        before: String,
        after: String,
    },
    /// A check that was not there: its condition, and what it raises.
    Guard {
        within: Option<String>,
        condition: String,
        raises: Option<String>,
    },
    /// One line became another.
    Line {
        within: Option<String>,
        before: String,
        after: String,
    },
    /// A line where there was none.
    Inserted {
        line: String,
    },
    Body {
        within: String,
    },
    /// A comment that says why.
    Reason(String),
    /// Code changed, and nothing simple can be said of it.
    Touched,
}

impl Effect {
    /// How much it says about the change. What is worth a title weighs two or more.
    pub(super) const fn weight(&self) -> u8 {
        match self {
            Self::Value { .. } | Self::Renamed { .. } => 5,
            Self::NewFile { .. } | Self::Deleted | Self::Signature { .. } => 4,
            Self::Added { kind, .. } | Self::Removed { kind, .. } => match kind {
                Kind::Test => 1,
                Kind::Function | Kind::Type => 4,
                Kind::Constant | Kind::Section => 3,
            },
            Self::Guard { .. } => 3,
            Self::Line { .. } | Self::Inserted { .. } | Self::Body { .. } => 2,
            Self::Touched => 1,
            Self::Reason(_) => 0,
        }
    }

    /// The name it is about.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Added { name, .. } | Self::Removed { name, .. } | Self::Value { name, .. } => Some(name),
            Self::Renamed { to, .. } => Some(to),
            Self::Body { within } => Some(within),
            Self::Guard { within, .. } | Self::Line { within, .. } => within.as_deref(),
            Self::Signature { after, .. } => after.split(['(', ' ']).next(),
            Self::NewFile { .. }
            | Self::Deleted
            | Self::Inserted { .. }
            | Self::Reason(_)
            | Self::Touched => None,
        }
    }

    pub(super) fn in_words(&self) -> String {
        let within =
            |place: &Option<String>| place.as_ref().map_or(String::new(), |name| format!("`{name}` "));
        match self {
            Self::NewFile { about } => about.clone(),
            Self::Touched => String::new(),
            Self::Deleted => "deleted".into(),
            Self::Added { kind, name } => format!("adds {}", called(*kind, name)),
            Self::Removed { kind, name } => format!("removes {}", called(*kind, name)),
            Self::Renamed { from, to } => format!("renames `{from}` to `{to}`"),
            Self::Signature { before, after } => format!("`{before}` becomes `{after}`"),
            Self::Value { name, before, after } => format!("`{name}` {before} → {after}"),
            Self::Guard { within: place, condition, raises: Some(raised) } => {
                format!("{}raises `{raised}` if `{condition}`", within(place))
            }
            Self::Guard { within: place, condition, raises: None } => {
                format!("{}checks `{condition}`", within(place))
            }
            Self::Line { within: place, before, after } => match place {
                Some(name) => format!("in `{name}`, `{before}` becomes `{after}`"),
                None => format!("`{before}` becomes `{after}`"),
            },
            Self::Inserted { line } => format!("adds `{line}`"),
            Self::Body { within } => format!("reworks `{within}`"),
            Self::Reason(text) => text.clone(),
        }
    }
}

fn called(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Function => format!("`{name}()`"),
        Kind::Test => format!("the test “{name}”"),
        Kind::Type | Kind::Constant => format!("`{name}`"),
        Kind::Section => format!("“{name}”"),
    }
}

/// What was done to one file, as one statement: `path: adds `a()` and `b()`; `X` 10 → 7`. Nothing
/// where nothing can be said.
pub(super) fn told(path: &str, effects: &[Effect], parts_max: usize) -> String {
    let parts = parts(effects, parts_max);
    let new = effects.iter().any(|effect| matches!(effect, Effect::NewFile { .. }));
    match (new, parts.is_empty()) {
        (true, true) => format!("{path} (new)"),
        (true, false) => format!("{path} (new): {}", parts.join("; ")),
        (false, true) => String::new(),
        (false, false) => format!("{path}: {}", parts.join("; ")),
    }
}

/// Each thing that was done, names of one kind together, tests as a number.
fn parts(effects: &[Effect], parts_max: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let about = effects.iter().find_map(|effect| match effect {
        Effect::NewFile { about } if !about.is_empty() => Some(about.clone()),
        _ => None,
    });
    parts.extend(about);
    let names = |of: &dyn Fn(&Effect) -> Option<String>| effects.iter().filter_map(of).collect::<Vec<_>>();
    let added = names(&|effect| match effect {
        Effect::Added { kind, name } if *kind != Kind::Test => Some(called(*kind, name)),
        _ => None,
    });
    let removed = names(&|effect| match effect {
        Effect::Removed { kind, name } if *kind != Kind::Test => Some(called(*kind, name)),
        _ => None,
    });
    for (verb, names) in [("adds", added), ("removes", removed)] {
        if !names.is_empty() {
            parts.push(format!("{verb} {}", listed(&names)));
        }
    }
    parts.extend(names(&|effect| match effect {
        Effect::Added { .. }
        | Effect::Removed { .. }
        | Effect::NewFile { .. }
        | Effect::Reason(_)
        | Effect::Touched => None,
        effect => Some(effect.in_words()),
    }));
    let tests = names(&|effect| match effect {
        Effect::Added { kind: Kind::Test, .. } => Some(effect.in_words()),
        _ => None,
    });
    match tests.as_slice() {
        [] => {}
        [only] => parts.push(only.clone()),
        many => parts.push(format!("adds {} tests", many.len())),
    }
    parts.truncate(parts_max);
    parts
}

/// `a`, `b` and `c`; beyond a few, the number of the rest.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if names.len() <= NAMES_MAX => {
            format!("{} and {last}", first.join(", "))
        }
        _ => format!("{} and {} more", names[..NAMES_MAX - 1].join(", "), names.len() - NAMES_MAX + 1),
    }
}
