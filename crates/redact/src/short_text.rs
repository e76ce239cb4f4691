//! [`ShortText`]: an id, a name, a branch, a path or a key as it may be stored.
//!
//! Such fields come from clients, git files, transcripts and imported files, and are stored in columns of
//! their own, outside the texts that [`crate::text`] redacts. The store writes them only as a
//! [`ShortText`], and only this module makes one: no field can be stored raw, whoever calls the store.

use std::borrow::Cow;

use claude_mem_core::event::{Event, EventBody, ProjectHint};
use claude_mem_core::event_key;

use crate::{is_clean, path};

/// Maximum bytes of a name, a branch or an id.
const NAME_BYTES_MAX: usize = 200;

/// Maximum bytes of a path or a project key.
const PATH_BYTES_MAX: usize = 4_096;

/// A redacted short field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortText<'a>(Cow<'a, str>);

impl<'a> ShortText<'a> {
    /// A name, a branch or another word: one line, without secrets, private blocks and tags.
    pub fn name(text: &'a str) -> Self {
        let is_plain = |c: char| !c.is_control() && !matches!(c, '<' | '>' | '\u{2028}' | '\u{2029}');
        let text = match path(text) {
            Cow::Borrowed(text) if text.len() <= NAME_BYTES_MAX && text.chars().all(is_plain) => {
                return Self(Cow::Borrowed(text));
            }
            text => text,
        };
        let plain: String = text.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
        // A cut could leave a part of a secret that was judged as a whole, so redact first.
        Self(Cow::Owned(cut(&plain, NAME_BYTES_MAX).trim().to_owned()))
    }

    /// An id: as it is, or its digest, which still tells ids apart.
    pub fn id(text: &'a str) -> Self {
        if text.len() <= NAME_BYTES_MAX && is_clean(text) && !text.chars().any(char::is_control) {
            return Self(Cow::Borrowed(text));
        }
        Self(Cow::Owned(digest(text)))
    }

    /// A path or a URL without credentials.
    pub fn path(text: &'a str) -> Self {
        match path(text) {
            text if text.len() > PATH_BYTES_MAX => Self(Cow::Owned(cut(&text, PATH_BYTES_MAX).to_owned())),
            text => Self(text),
        }
    }

    /// A key that identifies a project: as it is, or its kind and digest.
    pub fn key(text: &'a str) -> Self {
        if text.len() <= PATH_BYTES_MAX && matches!(path(text), Cow::Borrowed(_)) {
            return Self(Cow::Borrowed(text));
        }
        let kind = text.split(':').next().filter(|kind| kind.len() <= 8).unwrap_or_default();
        Self(Cow::Owned(format!("{kind}:#{}", digest(text))))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_text(self) -> Cow<'a, str> {
        self.0
    }

    /// Whether redaction changed the field.
    const fn is_changed(&self) -> bool {
        matches!(self.0, Cow::Owned(_))
    }
}

fn digest(text: &str) -> String {
    event_key::hex(&event_key::digest(&[text.as_bytes()]))
}

fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Redacts the fields of a project hint.
pub fn project_hint(hint: ProjectHint) -> ProjectHint {
    let ProjectHint { name, keys, root, branch } = hint;
    ProjectHint {
        name: owned(FieldKind::Name, name),
        keys: keys.into_iter().map(|key| owned(FieldKind::Key, key)).collect(),
        root: owned(FieldKind::Path, root),
        branch: branch.map(|branch| owned(FieldKind::Name, branch)).filter(|branch| !branch.is_empty()),
    }
}

/// Redacts every short field of an event. Prompts, messages, input and output are redacted where they are
/// read, by [`crate::text`] and [`crate::json()`]; a field that is added to the event must be added here.
pub fn event_fields(event: &Event) -> Cow<'_, Event> {
    let Event {
        client,
        session,
        at: _,
        project,
        prompt_id,
        agent_id,
        agent_type,
        transcript_path,
        cut: _,
        body,
    } = event;
    let ids = [Some(&session.0), prompt_id.as_ref(), agent_id.as_ref(), tool_use_id(body)];
    let names = [Some(client), agent_type.as_ref(), body_name(body)];
    let is_raw = ids.into_iter().flatten().any(|id| ShortText::id(id).is_changed())
        || names.into_iter().flatten().any(|name| ShortText::name(name).is_changed())
        || transcript_path.as_deref().is_some_and(|at| ShortText::path(at).is_changed())
        || project.as_ref().is_some_and(has_raw_fields);
    if !is_raw {
        return Cow::Borrowed(event);
    }
    let mut event = event.clone();
    event.client = owned(FieldKind::Name, event.client);
    event.session.0 = owned(FieldKind::Id, event.session.0);
    event.prompt_id = event.prompt_id.map(|id| owned(FieldKind::Id, id));
    event.agent_id = event.agent_id.map(|id| owned(FieldKind::Id, id));
    event.agent_type = event.agent_type.map(|name| owned(FieldKind::Name, name));
    // A redacted path could not be opened.
    event.transcript_path = event.transcript_path.filter(|at| !ShortText::path(at).is_changed());
    event.project = event.project.map(project_hint);
    redact_body_fields(&mut event.body);
    Cow::Owned(event)
}

fn has_raw_fields(hint: &ProjectHint) -> bool {
    let ProjectHint { name, keys, root, branch } = hint;
    ShortText::name(name).is_changed()
        || keys.iter().any(|key| ShortText::key(key).is_changed())
        || ShortText::path(root).is_changed()
        || branch.as_deref().is_some_and(|branch| ShortText::name(branch).is_changed())
}

/// The id in a body.
fn tool_use_id(body: &EventBody) -> Option<&String> {
    match body {
        EventBody::ToolUse { tool_use_id, .. } => tool_use_id.as_ref(),
        EventBody::Text { id, .. } => id.as_ref(),
        EventBody::SessionStart { .. }
        | EventBody::Prompt { .. }
        | EventBody::Stop { .. }
        | EventBody::SubagentStop { .. }
        | EventBody::PreCompact { .. }
        | EventBody::PostCompact { .. }
        | EventBody::SessionEnd { .. } => None,
    }
}

/// The name or word in a body.
fn body_name(body: &EventBody) -> Option<&String> {
    match body {
        EventBody::SessionStart { source: word }
        | EventBody::ToolUse { tool: word, .. }
        | EventBody::PreCompact { trigger: word }
        | EventBody::SessionEnd { reason: word } => Some(word),
        EventBody::Prompt { .. }
        | EventBody::Text { .. }
        | EventBody::Stop { .. }
        | EventBody::SubagentStop { .. }
        | EventBody::PostCompact { .. } => None,
    }
}

fn redact_body_fields(body: &mut EventBody) {
    match body {
        EventBody::SessionStart { source: word }
        | EventBody::PreCompact { trigger: word }
        | EventBody::SessionEnd { reason: word } => *word = owned(FieldKind::Name, std::mem::take(word)),
        EventBody::ToolUse { tool, tool_use_id, .. } => {
            *tool = owned(FieldKind::Name, std::mem::take(tool));
            *tool_use_id = tool_use_id.take().map(|id| owned(FieldKind::Id, id));
        }
        EventBody::Text { id, .. } => *id = id.take().map(|id| owned(FieldKind::Id, id)),
        EventBody::Prompt { .. }
        | EventBody::Stop { .. }
        | EventBody::SubagentStop { .. }
        | EventBody::PostCompact { .. } => {}
    }
}

/// How a short field is redacted.
#[derive(Clone, Copy)]
enum FieldKind {
    Name,
    Id,
    Path,
    Key,
}

/// Redacts a field in place: a clean one is not copied.
fn owned(kind: FieldKind, text: String) -> String {
    let redacted = match kind {
        FieldKind::Name => ShortText::name(&text),
        FieldKind::Id => ShortText::id(&text),
        FieldKind::Path => ShortText::path(&text),
        FieldKind::Key => ShortText::key(&text),
    };
    match redacted.0 {
        Cow::Borrowed(_) => text,
        Cow::Owned(redacted) => redacted,
    }
}

#[cfg(test)]
#[path = "short_text_tests.rs"]
mod tests;
