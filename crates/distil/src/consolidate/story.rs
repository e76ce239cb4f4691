//! The sentences that may tell a change or a finding.

use crate::claim::Claim;

/// A sentence that may be told, with its weight among the others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StorySentence {
    pub weight: f32,
    pub text: String,
    pub block: StoryBlock,
}

/// The part of a text that a sentence stands in. Sentences of one part belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StoryBlock {
    /// A sentence of its own.
    Single,
    Paragraph(u32),
    /// A list, by the line that introduces it.
    List(String),
}

impl StorySentence {
    pub(super) fn single(weight: f32, text: impl Into<String>) -> Self {
        Self { weight, text: text.into(), block: StoryBlock::Single }
    }

    /// A claim with the sentences that belong to it.
    pub(super) fn of_claim(weight: f32, claim: &Claim) -> Self {
        let block = if claim.place.listed {
            StoryBlock::List(claim.section.clone())
        } else {
            StoryBlock::Paragraph(claim.place.paragraph)
        };
        Self { weight, text: claim.passage(), block }
    }
}
