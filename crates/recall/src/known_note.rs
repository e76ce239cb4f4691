//! Recognises a note that says what is stored already: the same words from a tool, a slash command and a prompt are
//! one memory.

use std::borrow::Cow;

use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, ProjectId, SessionId};
use claude_mem_core::memory::{NewObservation, Origin};
use claude_mem_search::restated_rows::{self, is_note, note_text, text_of_note};
use claude_mem_search::statement::{Restatement, Statement};
use claude_mem_store::{Observation, PageRequest, RowFilter, StoreError, StoreReader, StoreWriter};

/// Observations of the session that a note is compared with.
const SESSION_ROWS_MAX: u32 = 100;

/// A new note and where it belongs.
pub(crate) struct NewNote<'a> {
    pub observation: &'a NewObservation,
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
}

impl NewNote<'_> {
    /// The observation that this note becomes part of, if there is one. That observation gets the stronger type and
    /// voice of both, and what the note adds as a fact.
    pub(crate) fn merge_into_known(
        &self,
        tx: &StoreWriter<'_>,
        now: Millis,
    ) -> Result<Option<ObservationId>, StoreError> {
        let Some((row, how)) = self.find_known(tx)? else {
            return Ok(None);
        };
        if how == Restatement::Extended {
            restated_rows::keep_note(tx, &row, &self.text(), self.observation.origin, now)?;
        }
        // An agent that repeats the user does not speak with the user's voice.
        restated_rows::strengthen(tx, &row, &self.observation.text.kind, self.observation.origin, now)?;
        Ok(Some(row.id))
    }

    fn text(&self) -> Cow<'_, str> {
        note_text(&self.observation.text.title, &self.observation.text.narrative)
    }

    fn find_known(&self, reads: &StoreReader<'_>) -> Result<Option<(Observation, Restatement)>, StoreError> {
        let Some(project) = self.project else { return Ok(None) };
        let titled = reads.observations_titled(project, &self.observation.text.title)?;
        let is_current = |row: &Observation| !row.wrong && row.replaced_by.is_none();
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let wanted = squeeze(&self.text());
        let mut titled = titled.into_iter().filter(is_current);
        if let Some(row) = titled.find(|row| squeeze(&text_of_note(row)) == wanted) {
            return Ok(Some((row, Restatement::Covered)));
        }
        let Some(said) = Statement::parse(&self.text()) else { return Ok(None) };
        if let Some(known) = self.restated_of_session(reads, &said)? {
            return Ok(Some(known));
        }
        let rows = restated_rows::rows_saying_same(reads, project, &self.text())?;
        Ok(rows.into_iter().find_map(|row| {
            let stated =
                if is_note(&row) { text_of_note(&row) } else { Cow::Borrowed(row.text.title.as_str()) };
            let stated = Statement::parse(&stated)?;
            // Nothing of the note may be lost.
            let (_, how) = stated.restated_by(&said)?;
            (how == Restatement::Covered).then_some((row, how))
        }))
    }

    /// The statement of the user in the same session that the note restates best.
    fn restated_of_session(
        &self,
        reads: &StoreReader<'_>,
        said: &Statement,
    ) -> Result<Option<(Observation, Restatement)>, StoreError> {
        let Some(session) = self.session else { return Ok(None) };
        let filter = RowFilter { session: Some(session), ..RowFilter::default() };
        let page = reads.observations(&filter, PageRequest::first(SESSION_ROWS_MAX))?;
        let stated = page.items.into_iter().filter(|row| {
            row.origin == Origin::User && !row.wrong && row.replaced_by.is_none() && row.member.is_none()
        });
        let restated = stated.filter_map(|row| {
            let (percent, how) = restated_rows::restatement(&row, said)?;
            Some((percent, how, row))
        });
        let best = restated.max_by_key(|(percent, how, row)| {
            (*how == Restatement::Covered, *percent, std::cmp::Reverse(row.id))
        });
        Ok(best.map(|(_, how, row)| (row, how)))
    }
}
