//! The kinds of cues, and the form of a language's table of phrases.

/// What a phrase is a sign of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CueKind {
    /// It binds: must, never, always, exactly.
    Rule,
    /// It narrows: only, exactly, unless.
    Limit,
    /// It leans: should, wants, counts as.
    Should,
    /// One thing over another: use, keep, instead of.
    Choice,
    Reason,
    /// Somebody looked: measured, benchmark.
    Measure,
    /// It replaces what held before.
    Amend,
    /// The agent is about to do something: "let me", "I'll start".
    Plan,
    /// The agent offers something: "I'd", "my default would be".
    Propose,
    Hedge,
    /// Politeness and praise, which say nothing.
    Filler,
    /// Something was found out: root cause, turns out.
    Cause,
    /// Work that is finished: fixed, added, renamed.
    Done,
    Next,
    Caveat,
    Tried,
    /// It did not help.
    Fruitless,
    /// It holds beyond this task: from now on, whenever.
    General,
    /// It is about how work is done: commits, formatting, answers.
    Working,
    /// It is the speaker's wish: I prefer, please.
    Personal,
    /// Checks that went well: tests pass.
    Verified,
    /// Something is wrong: broken, fails, complain.
    Problem,
    /// Another subject starts here.
    Topic,
    /// At the start: no, careful, hold on.
    Disagree,
    /// At the start: yes, right, ship it.
    Agree,
    /// At the start: the agent has taken it in.
    Ack,
    /// At the start: what was settled is said again.
    Recap,
    /// At the start: somebody asks for work.
    Request,
    /// At the start: and, but, so.
    Connective,
    /// The whole of it may be missing: a bare pronoun as subject.
    Pronoun,
}

pub(super) const CUES: usize = CueKind::Pronoun as usize + 1;

/// The phrases of one language.
pub(super) struct CueTable {
    /// Whether words are set apart by spaces.
    pub spaced: bool,
    pub phrases: &'static [(CueKind, &'static [&'static str])],
    /// Frequent small words by which the language is told from others.
    pub telltales: &'static [&'static str],
}
