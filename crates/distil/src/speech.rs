//! The sentences of a prompt or an answer, each with its cues.

use std::collections::BTreeSet;

use super::cues::{self, CueKind, CueMarks, Language};
use super::sentences::{TextBlock, TextDocument, TextSentence};
use super::text::{content_words, is_name};

/// One sentence with its cues.
#[derive(Clone, Debug)]
pub(super) struct MarkedSentence {
    pub text: String,
    pub block: TextBlock,
    pub paragraph: usize,
    pub marks: CueMarks,
    pub words: BTreeSet<String>,
    /// How many numbers, names from code, quoted literals and words in capitals it has.
    pub values: usize,
    pub question: bool,
}

/// A prompt or an answer as sentences.
#[derive(Clone, Debug)]
pub(super) struct SpokenText {
    pub statements: Vec<MarkedSentence>,
    /// Code or output stands in it, in a fence.
    pub has_fence: bool,
    pub language: Language,
}

impl SpokenText {
    pub(super) fn read(text: &str) -> Self {
        let document = TextDocument::read(text);
        let language = Language::detect(text);
        let statements = document.sentences.into_iter();
        let statements = statements.map(|s| MarkedSentence::new(s, language)).collect();
        Self { statements, has_fence: document.has_fence, language }
    }

    /// Whether it is agreement and politeness alone: "ok", "thanks, go on".
    pub(super) fn is_bare(&self) -> bool {
        !self.has_fence && self.statements.iter().all(MarkedSentence::is_bare)
    }

    /// The sentences without headings, quotes and table rows.
    pub(super) fn own(&self) -> impl Iterator<Item = &MarkedSentence> {
        self.statements.iter().filter(|statement| {
            matches!(statement.block, TextBlock::Prose | TextBlock::Item | TextBlock::Todo)
        })
    }
}

impl MarkedSentence {
    fn new(sentence: TextSentence, language: Language) -> Self {
        Self {
            marks: cues::mark(&sentence.text, language),
            words: content_words(&sentence.text),
            values: values(&sentence.text),
            question: sentence.text.ends_with(['?', '？']),
            text: sentence.text,
            block: sentence.block,
            paragraph: sentence.paragraph,
        }
    }

    /// Reads a single sentence or clause.
    pub(super) fn clause(text: &str, language: Language) -> Self {
        let sentence = TextSentence {
            text: text.to_owned(),
            block: TextBlock::Prose,
            section: String::new(),
            paragraph: 0,
        };
        Self::new(sentence, language)
    }

    /// How much it reads as a rule: cue phrases and concrete values add, hedges, questions and plans subtract.
    pub(super) fn rule_weight(&self) -> f32 {
        let counted = |cue: CueKind, first: f32, more: f32| match self.marks.count(cue) {
            0 => 0.0,
            n => first + more * f32::from(n.min(4) - 1),
        };
        let mut weight = counted(CueKind::Rule, 2.0, 0.5)
            + counted(CueKind::Limit, 1.75, 0.5)
            + counted(CueKind::Should, 0.75, 0.25)
            + counted(CueKind::Choice, 1.0, 0.25)
            + counted(CueKind::Reason, 0.75, 0.0)
            + counted(CueKind::Measure, 1.0, 0.0)
            + counted(CueKind::Amend, 1.5, 0.0)
            - counted(CueKind::Hedge, 1.0, 0.5)
            - counted(CueKind::Filler, 1.5, 0.5)
            - counted(CueKind::Plan, 1.5, 0.0)
            - counted(CueKind::Verified, 1.5, 0.5);
        weight += 0.4 * self.values.min(4) as f32;
        if self.question {
            weight -= 5.0;
        }
        if self.marks.opens(CueKind::Request)
            && !self.marks.has(CueKind::Rule)
            && !self.marks.has(CueKind::Limit)
        {
            weight -= 1.5;
        }
        match self.block {
            TextBlock::Heading => weight -= 3.0,
            TextBlock::Quote => weight -= 4.0,
            TextBlock::Row => weight -= 1.0,
            TextBlock::Prose | TextBlock::Item | TextBlock::Todo => {}
        }
        if self.words.len() < 2 {
            weight -= 1.0;
        }
        weight
    }

    /// Whether it is agreement or politeness alone.
    pub(super) fn is_bare(&self) -> bool {
        let polite = self.marks.opens(CueKind::Agree)
            || self.marks.opens(CueKind::Ack)
            || self.marks.has(CueKind::Filler);
        self.words.is_empty() || (polite && self.words.len() <= 2 && self.values == 0)
    }
}

/// The number of concrete values in a text.
fn values(text: &str) -> usize {
    let code = text.split('`').skip(1).step_by(2).filter(|code| !code.is_empty()).count();
    let outside: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let words = outside.split_whitespace().filter(|word| is_value(word)).count();
    code + words
}

fn is_value(word: &str) -> bool {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    let quoted = word.len() > 2 && word.starts_with(['\'', '"', '“', '‘', '«', '„', '「', '『']);
    let loud = core.chars().count() >= 2
        && core.chars().any(char::is_uppercase)
        && core.chars().all(|c| c.is_uppercase() || c.is_numeric());
    quoted || loud || is_name(word) || core.chars().any(|c| c.is_ascii_digit())
}
