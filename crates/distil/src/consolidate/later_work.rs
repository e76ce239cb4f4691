//! Later work of the session on the same files and the same subject: a change that it touched again is not told as the
//! last word.

use std::collections::BTreeSet;

use crate::carry::are_alike;
use crate::text::{content_words, shared};
use crate::turn_outcome::is_prose_file;

use super::frames::{ClaimFrame, FrameKind};
use super::title_form::says_work;
use super::titles::work_title;

/// The share of the words of a later title that the earlier change must have said.
const SAME_SUBJECT: f32 = 0.2;

/// The title of the last work after this one that changed a file of it and is about the same subject.
pub(super) fn later_work(frame: &ClaimFrame<'_>, frames: &[ClaimFrame<'_>]) -> Option<String> {
    let own_title = work_title(frame)?;
    let code = code_files(frame);
    let leads = frame.leads.iter().map(|lead| lead.text.as_str());
    let said: BTreeSet<String> = leads
        .chain(frame.report.iter().copied())
        .chain([own_title.as_str()])
        .flat_map(content_words)
        .collect();
    let continues = |title: &String| {
        let words = content_words(title);
        shared(&words, &said) as f32 >= SAME_SUBJECT * words.len().max(1) as f32
            && !are_alike(&own_title, title)
    };
    let later = frames.iter().filter(|other| other.kind == FrameKind::Work && other.at > frame.at);
    // A fault that was repaired titles its repair; here it would read as the state.
    let tells_work = |other: &ClaimFrame<'_>, title: &str| !other.leads.is_empty() || says_work(title);
    let same_files = later.filter(|other| !code.is_disjoint(&code_files(other)));
    let titled = same_files.filter_map(|other| {
        Some((other.at, work_title(other).filter(continues).filter(|title| tells_work(other, title))?))
    });
    titled.max_by_key(|(at, _)| *at).map(|(_, title)| title)
}

fn code_files(frame: &ClaimFrame<'_>) -> BTreeSet<String> {
    frame.shown_files().into_iter().filter(|file| !is_prose_file(file)).collect()
}
