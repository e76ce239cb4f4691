//! The account of the last session, from the session's account or, in an older store, from the summary of
//! its last turn.

use std::fmt::Write;

use jiff::tz::TimeZone;

use super::start_rules::{contains_same, says_same_rule};
use super::{quote, render};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::SessionId;
use claude_mem_core::memory::Origin;
use claude_mem_store::{AccountRow, IndexRow, RowId, RowKind, SummaryRow};

/// What is told of the last session.
#[derive(Clone, Debug, PartialEq)]
pub enum LastSession {
    Account(Box<AccountRow>),
    Summary(Box<SummaryRow>),
}

/// Lines as one text: sentences follow each other, other lines are parted by semicolons.
fn list(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        if !text.is_empty() {
            text.push_str(if text.ends_with(['.', '!', '?', '…', '。']) { " " } else { "; " });
        }
        text.push_str(line);
    }
    text
}

impl LastSession {
    pub fn row_id(&self) -> RowId {
        match self {
            Self::Account(row) => RowId::new(RowKind::Account, row.id.0),
            Self::Summary(row) => RowId::new(RowKind::Summary, row.id.0),
        }
    }

    pub fn session(&self) -> SessionId {
        match self {
            Self::Account(row) => row.session,
            Self::Summary(row) => row.session,
        }
    }

    /// What the session was for.
    pub fn purpose(&self) -> &str {
        match self {
            Self::Account(row) => &row.text.purpose,
            Self::Summary(row) => &row.text.request,
        }
    }

    pub(super) fn created_at(&self) -> Millis {
        match self {
            Self::Account(row) => row.created_at,
            Self::Summary(row) => row.created_at,
        }
    }

    pub(super) fn origin(&self) -> Origin {
        match self {
            Self::Account(row) => row.origin,
            Self::Summary(row) => row.origin,
        }
    }

    /// Names and texts of its fields, in the order of reading. What these rows tell is not repeated.
    fn fields(&self, told: &[&IndexRow]) -> Vec<(&'static str, String)> {
        match self {
            Self::Account(row) => {
                vec![
                    ("For", row.text.purpose.clone()),
                    ("Done", list(&without_purpose(&row.text.done, &row.text.purpose))),
                    ("Decided", list(&untold(&row.text.decided, told, says_same_rule))),
                    ("Learned", list(&untold(&row.text.learned, told, contains_same))),
                    ("Checked", list(&row.text.checked)),
                ]
            }
            Self::Summary(row) => [
                ("Asked", &row.text.request),
                ("Learned", &row.text.learned),
                ("Done", &row.text.completed),
                ("Next", &row.text.next_steps),
                ("Open", &row.text.notes),
            ]
            .map(|(name, text)| (name, text.clone()))
            .to_vec(),
        }
    }

    /// Field by field, empty ones left out.
    pub(super) fn render(
        &self,
        heading: &str,
        field_chars: usize,
        told: &[&IndexRow],
        zone: &TimeZone,
    ) -> String {
        let (mut out, source) = (String::new(), render::source(self.origin()));
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "\n## {heading} ({}, {}){}{}",
            render::day_and_time(self.created_at(), zone),
            self.row_id(),
            if source.is_empty() { "" } else { " " },
            source
        );
        for (name, text) in self.fields(told) {
            let text = quote::clause(&text, field_chars);
            if !text.is_empty() {
                let _ = writeln!(out, "{name}: {text}");
            }
        }
        out
    }
}

/// The lines without the purpose, where they begin with it: it stands above them.
fn without_purpose(done: &[String], purpose: &str) -> Vec<String> {
    let rest = |line: &String| match line.strip_prefix(purpose).filter(|_| !purpose.is_empty()) {
        Some(rest) => rest.trim_start_matches([':', '.', ' ', '—']).to_owned(),
        None => line.clone(),
    };
    done.iter().map(rest).filter(|line| !line.is_empty()).collect()
}

fn untold(lines: &[String], told: &[&IndexRow], says_same: fn(&str, &str) -> bool) -> Vec<String> {
    let is_told = |line: &str| told.iter().any(|row| says_same(line, &row.title));
    lines.iter().filter(|line| !is_told(line)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::without_purpose;

    #[test]
    fn purpose_is_not_repeated_as_done() {
        let done = ["Mend the login loop: clear the old cookie", "Mend the login loop", "Add a test"]
            .map(str::to_owned);
        assert_eq!(without_purpose(&done, "Mend the login loop"), ["clear the old cookie", "Add a test"]);
        assert_eq!(without_purpose(&done, ""), done);
    }
}
