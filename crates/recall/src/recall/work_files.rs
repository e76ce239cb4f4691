//! The files that earlier work on the subject of a request touched.
//!
//! Two kinds of evidence add up: turns that share specific words with the request, and words of the request in
//! the names of files. Recently edited files count more, files that many sessions touch count less, and hub files
//! ([`RecentFiles::is_hub`]) do not count.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::RecallQuery;
use super::domain_stopwords::{WordSpecificity, word_specificity};
use super::open_work::OpenWork;
use super::prompt_question::PromptQuestion;
use super::recent_files::{READ_WEIGHT, RecentFiles, is_outside};
use super::session_memories::{memories_of, tells_of_file};
use claude_mem_core::ids::{ObservationId, PromptId, SessionId};
use claude_mem_search::analyzer::words;
use claude_mem_search::stem::stem;
use claude_mem_store::{
    Observation, PageRequest, RowFilter, RowId, RowKind, StoreError, StoreReader, split_identifiers,
};

/// Weights of a word in a file's own name and in its directory's; in a turn it is 1. A name says what the file holds, a
/// turn what else was touched, too.
const NAME_WEIGHT: f64 = 1.5;
const DIRECTORY_WEIGHT: f64 = 0.6;
/// Factor of a file that no recent session touched, and the most that recent sessions add to it.
const STALE_FACTOR: f64 = 0.6;
const RECENT_FACTOR_MAX: f64 = 1.0;
/// Turns looked at.
pub(super) const TURNS_MAX: usize = 10;
/// Files told: all that one change touched, as a rule, if they are equally likely.
const FILES_MAX: usize = 8;
/// Share of the best file's score that a further one needs.
const SHARE_OF_BEST: f64 = 0.3;
/// Summed score of the best three files from which they are told.
const SCORE_MIN: f64 = 8.0;
/// What the last work counts for a request that refers to it, as the summed weight of shared words.
const LAST_WORK_WORTH: f64 = 5.0;
/// Added to the similarity in meaning, which the shared words of a turn are multiplied by: words that are shared by
/// chance are in turns about something else. At the similarity of a turn about the same (0.5) they count in full.
const CLOSENESS_MORE: f64 = 0.5;
/// Turns of one session that are read.
const SESSION_TURNS: u32 = 200;

/// A row that shares words with the request, and the weight of these words.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchedRow {
    pub row: RowId,
    pub worth: f64,
    /// Similarity in meaning; `None` without vectors.
    pub cosine: Option<f64>,
}

impl MatchedRow {
    /// How much its turn speaks for the files that it touched.
    fn turn_worth(&self) -> f64 {
        self.worth * self.cosine.map_or(1.0, |cosine| (cosine + CLOSENESS_MORE).max(0.0))
    }
}

/// The likely files of a request, best first, and the observations that speak for them.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkFiles {
    pub paths: Vec<String>,
    pub sources: Vec<ObservationId>,
    /// What was made of the turns whose prompts speak for the files, if no observation does by its own words.
    pub of_turns: Vec<Observation>,
}

/// The files of one turn or observation, with their weights.
struct TouchedFiles {
    worth: f64,
    source: Option<ObservationId>,
    turn: Option<(SessionId, u32)>,
    files: HashMap<String, f64>,
}

impl TouchedFiles {
    /// Adds files of the project; of two weights the higher one counts.
    fn add(&mut self, paths: &[String], weight: f64) {
        for path in paths.iter().filter(|path| !is_outside(path)) {
            let known = self.files.entry(path.clone()).or_default();
            *known = known.max(weight);
        }
    }
}

/// The likely files of this request; none without enough evidence. Of a request about open work, the last work counts
/// as one more turn; comments on it need no further evidence, and no other turn counts for them: the words of a review
/// find other reviews.
pub(super) fn find_work_files(
    reads: &StoreReader<'_>,
    ask: &RecallQuery<'_>,
    asking: &PromptQuestion,
    matched: &[MatchedRow],
    recent: &RecentFiles,
    open_work: Option<OpenWork>,
) -> Result<WorkFiles, StoreError> {
    let last = open_work.and(recent.last_work());
    let is_reviewed = last.is_some() && open_work == Some(OpenWork::Reviewed);
    let mut touched = touched_files(reads, if is_reviewed { &[] } else { matched })?;
    if let Some(last) = last {
        let mut left =
            TouchedFiles { worth: LAST_WORK_WORTH, source: None, turn: None, files: HashMap::new() };
        left.add(&last.edits, 1.0);
        touched.push(left);
    }
    let touched_paths = touched.iter().flat_map(|turn| turn.files.keys().map(String::as_str));
    let known: HashSet<&str> = recent.paths().chain(touched_paths).collect();
    let by_path = path_scores(asking, known.iter().copied());
    let mut scores: HashMap<&str, f64> = HashMap::new();
    for turn in &touched {
        let share = turn.worth / (turn.files.len() as f64).sqrt();
        for (path, weight) in &turn.files {
            *scores.entry(path).or_default() += share * weight;
        }
    }
    for (path, score) in by_path {
        *scores.entry(path).or_default() += score;
    }
    let spelled_out = spelled_out_file(ask.prompt, scores.keys().copied());
    // Comments are on what the change is about, which the sessions before the last one touched, too.
    let recent_max = if is_reviewed { f64::INFINITY } else { RECENT_FACTOR_MAX };
    let weighted = scores.into_iter().map(|(path, score)| {
        let recency = STALE_FACTOR + recent.recency(path).min(recent_max);
        let score = score * recent.rarity(path) * recency;
        (path, if spelled_out == Some(path) { score.max(SCORE_MIN) } else { score })
    });
    let prompt = ask.prompt.to_lowercase();
    let is_named = |path: &str| prompt.contains(&path.rsplit('/').next().unwrap_or(path).to_lowercase());
    let mut ranked: Vec<(&str, f64)> =
        weighted.filter(|(path, score)| *score > 0.0 && !is_named(path) && !recent.is_hub(path)).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let best = ranked.first().map_or(0.0, |(_, score)| *score);
    let total = ranked.iter().take(3).map(|(_, score)| score).sum::<f64>();
    if total < SCORE_MIN && !is_reviewed {
        return Ok(WorkFiles::default());
    }
    let told = ranked.into_iter().filter(|(_, score)| *score >= best * SHARE_OF_BEST).take(FILES_MAX);
    let paths: Vec<String> = told.map(|(path, _)| path.to_owned()).collect();
    let speaks = |turn: &&TouchedFiles| paths.iter().any(|path| turn.files.contains_key(path));
    let sources: Vec<ObservationId> = touched.iter().filter(speaks).filter_map(|turn| turn.source).collect();
    let turns = touched.iter().filter(speaks).filter_map(|turn| turn.turn);
    let of_turns = if sources.is_empty() { memories_of_turns(reads, turns, &paths)? } else { Vec::new() };
    Ok(WorkFiles { paths, sources, of_turns })
}

/// The memories that were made of these turns and are about one of the files, in the order of the turns.
fn memories_of_turns(
    reads: &StoreReader<'_>,
    turns: impl Iterator<Item = (SessionId, u32)>,
    paths: &[String],
) -> Result<Vec<Observation>, StoreError> {
    let mut found = Vec::new();
    for (session, number) in turns {
        let tells = |row: &Observation| {
            row.prompt_number == number && tells_of_file(row, |path| paths.contains(path))
        };
        found.extend(memories_of(reads, session)?.into_iter().filter(tells));
    }
    Ok(found)
}

/// The files of these rows, or of their turns if a row has none of its own; each turn once.
fn touched_files(reads: &StoreReader<'_>, matched: &[MatchedRow]) -> Result<Vec<TouchedFiles>, StoreError> {
    let mut found: Vec<TouchedFiles> = Vec::new();
    let mut seen: HashSet<(SessionId, u32)> = HashSet::new();
    for row in matched.iter().take(TURNS_MAX) {
        let mut touched =
            TouchedFiles { worth: row.turn_worth(), source: None, turn: None, files: HashMap::new() };
        let turn = if row.row.kind == RowKind::Observation {
            let observation = reads.observation(ObservationId(row.row.row_id))?;
            if observation.wrong || observation.held_back || observation.replaced_by.is_some() {
                continue;
            }
            touched.source = Some(observation.id);
            touched.add(&observation.text.files_read, READ_WEIGHT);
            touched.add(&observation.text.files_modified, 1.0);
            observation.session.map(|session| (session, observation.prompt_number))
        } else {
            let prompt = reads.prompt(PromptId(row.row.row_id))?;
            if prompt.private {
                continue;
            }
            Some((prompt.session, prompt.number))
        };
        if let Some((session, number)) = turn
            && touched.files.is_empty()
            && seen.insert((session, number))
        {
            touched.turn = Some((session, number));
            let of_session = RowFilter { session: Some(session), ..RowFilter::default() };
            let summaries = reads.summaries(&of_session, PageRequest::first(SESSION_TURNS))?.items;
            for summary in summaries.iter().filter(|summary| summary.prompt_number == number) {
                touched.add(&summary.text.files_read, READ_WEIGHT);
                touched.add(&summary.text.files_edited, 1.0);
            }
        }
        if !touched.files.is_empty() {
            found.push(touched);
        }
    }
    Ok(found)
}

/// How specific the words are that each path shares with the request.
fn path_scores<'p>(asking: &PromptQuestion, paths: impl Iterator<Item = &'p str>) -> Vec<(&'p str, f64)> {
    let asked: HashSet<String> = asking.query.words.iter().map(|word| stem(word)).collect();
    let split: Vec<(&str, BTreeSet<String>, BTreeSet<String>)> = paths
        .map(|path| {
            let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
            (path, path_stems(directory), path_stems(name))
        })
        .collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (_, directory, name) in &split {
        for word in directory.union(name) {
            *counts.entry(word).or_default() += 1;
        }
    }
    let all = split.len() as f64;
    let mut scores = Vec::new();
    for (path, directory, name) in &split {
        let weight = |word: &String| {
            let place = if name.contains(word) { NAME_WEIGHT } else { DIRECTORY_WEIGHT };
            let specific = match word_specificity(word) {
                WordSpecificity::All => 1.0,
                WordSpecificity::Half => 0.5,
                WordSpecificity::Nothing => 0.0,
            };
            specific * place * ((all + 1.0) / counts[word.as_str()] as f64).ln()
        };
        let shared = directory.union(name).filter(|word| asked.contains(*word));
        let score: f64 = shared.map(weight).sum();
        if score > 0.0 {
            scores.push((*path, score));
        }
    }
    scores
}

/// Words of a file's name from which the prompt can be said to spell it out.
const SPELLED_WORDS_MIN: usize = 2;

/// The file whose name the prompt spells out; none if it is the name of several, which is a subject.
fn spelled_out_file<'p>(prompt: &str, paths: impl Iterator<Item = &'p str>) -> Option<&'p str> {
    let said: Vec<String> = words(prompt).map(|word| stem(&word)).collect();
    let mut named = paths.filter(|path| is_spelled_out(path, &said));
    named.next().filter(|_| named.next().is_none())
}

/// Whether a prompt, as stems in order, has all words of the file's name side by side: "the checkout map" for
/// `CheckoutMap.tsx`.
fn is_spelled_out(path: &str, said: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.split('.').next().unwrap_or(name);
    let name: Vec<String> = words(&split_identifiers(name)).map(|word| stem(&word)).collect();
    let tells = |word: &String| word_specificity(word) != WordSpecificity::Nothing;
    name.len() >= SPELLED_WORDS_MIN
        && name.iter().any(tells)
        && said.windows(name.len()).any(|run| run == name.as_slice())
}

/// The stems of the words of a path: `src/HistoryCard.tsx` has "history" and "card". In order, because sums of weights
/// in another order differ in their last bits, and so do the files that are told.
fn path_stems(path: &str) -> BTreeSet<String> {
    let split = split_identifiers(path);
    words(path)
        .chain(words(&split))
        .filter(|word| word.chars().any(char::is_alphabetic))
        .map(|word| stem(&word))
        .collect()
}

#[cfg(test)]
#[path = "work_files_tests.rs"]
mod tests;
