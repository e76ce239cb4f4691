//! The kinds of cues, and the form of a language's table of phrases.

/// What a phrase indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CueKind {
    /// A rule: must, never, always.
    Rule,
    /// A restriction: only, exactly, unless.
    Limit,
    /// A weak rule: should, wants, counts as.
    Should,
    /// A choice: use, keep, instead of.
    Choice,
    Reason,
    /// A measurement: measured, benchmark.
    Measure,
    /// A changed rule.
    Amend,
    /// An announcement of the agent: "let me", "I'll start".
    Plan,
    /// An offer of the agent: "I'd", "my default would be".
    Propose,
    Hedge,
    /// Politeness and praise.
    Filler,
    /// A cause: root cause, turns out.
    Cause,
    /// Finished work: fixed, added, renamed.
    Done,
    Next,
    Caveat,
    Tried,
    /// A failed attempt.
    Fruitless,
    /// Validity beyond this task: from now on, whenever.
    General,
    /// The way of working: commits, formatting, answers.
    Working,
    /// A wish: I prefer, please.
    Personal,
    /// Successful checks: tests pass.
    Verified,
    /// A problem: broken, fails, complain.
    Problem,
    /// A change of subject.
    Topic,
    /// An opening: no, careful, hold on.
    Disagree,
    /// An opening: yes, right, ship it.
    Agree,
    /// An opening: understood, got it.
    Ack,
    /// An opening: recap, settled.
    Recap,
    /// An opening that asks for work.
    Request,
    /// An opening: and, but, so.
    Connective,
    /// An opening: a bare pronoun as subject.
    Pronoun,
}

pub(super) const CUES: usize = CueKind::Pronoun as usize + 1;

/// The phrases of one language.
pub(super) struct CueTable {
    /// Whether words are separated by spaces.
    pub spaced: bool,
    pub phrases: &'static [(CueKind, &'static [&'static str])],
    /// Frequent small words by which the language is recognised.
    pub telltales: &'static [&'static str],
}
