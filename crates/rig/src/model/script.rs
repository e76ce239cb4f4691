//! The script of a model ([`ModelScript`]): which turn answers which request.

use std::collections::VecDeque;

use super::request::RecordedRequest;
use super::turn::{ModelTurn, TurnSource};

/// The answers of a model. Rules are tried first, in the order in which they were added; a request that
/// matches no rule takes the next turn; when the turns are used up the fallback answers.
///
/// Rules are for side requests of a client (warm-ups, titles, subagents, compaction), whose number and
/// order the test does not control.
#[derive(Clone, Debug)]
pub struct ModelScript {
    rules: Vec<ScriptRule>,
    turns: VecDeque<ModelTurn>,
    fallback: ModelTurn,
}

/// Turns for the requests that match a condition.
#[derive(Clone, Debug)]
struct ScriptRule {
    when: RequestMatcher,
    turns: VecDeque<ModelTurn>,
    repeats: bool,
}

impl Default for ModelScript {
    fn default() -> Self {
        Self { rules: Vec::new(), turns: VecDeque::new(), fallback: ModelTurn::text("ok") }
    }
}

impl ModelScript {
    pub fn new() -> Self {
        Self::default()
    }

    /// A script for a whole session of a client. Side requests (older clients warm up, make titles and ask
    /// about commands, all without the tools of the main conversation) are answered "ok" and take no
    /// turn.
    pub fn session() -> Self {
        Self::new()
            .always(RequestMatcher::any().last_user_is("Warmup"), ModelTurn::text("ok"))
            .always(RequestMatcher::any().tools(false), ModelTurn::text("ok"))
    }

    #[must_use]
    pub fn turn(mut self, turn: ModelTurn) -> Self {
        self.turns.push_back(turn);
        self
    }

    #[must_use]
    pub fn turns(mut self, turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        self.turns.extend(turns);
        self
    }

    /// Answers matching requests with these turns in order; later ones fall through.
    #[must_use]
    pub fn rule(self, when: RequestMatcher, turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        self.add(when, turns.into_iter().collect(), false)
    }

    /// Answers every matching request with this turn.
    #[must_use]
    pub fn always(self, when: RequestMatcher, turn: ModelTurn) -> Self {
        self.add(when, VecDeque::from([turn]), true)
    }

    /// Sets the answer after the last turn; by default the text "ok".
    #[must_use]
    pub fn fallback(mut self, turn: ModelTurn) -> Self {
        self.fallback = turn;
        self
    }

    fn add(mut self, when: RequestMatcher, turns: VecDeque<ModelTurn>, again: bool) -> Self {
        self.rules.push(ScriptRule { when, turns, repeats: again });
        self
    }

    pub(crate) fn turns_left(&self) -> usize {
        self.turns.len()
    }

    pub(crate) fn push(&mut self, turn: ModelTurn) {
        self.turns.push_back(turn);
    }

    pub(crate) fn next_turn(&mut self, request: &RecordedRequest) -> (ModelTurn, TurnSource) {
        for (number, rule) in self.rules.iter_mut().enumerate() {
            if !rule.when.matches(request) {
                continue;
            }
            let turn = if rule.repeats { rule.turns.front().cloned() } else { rule.turns.pop_front() };
            if let Some(turn) = turn {
                return (turn, TurnSource::Rule(number));
            }
        }
        match self.turns.pop_front() {
            Some(turn) => (turn, TurnSource::Turn),
            None => (self.fallback.clone(), TurnSource::Fallback),
        }
    }
}

/// A condition on a request; every part that was set must match.
#[derive(Clone, Debug, Default)]
pub struct RequestMatcher {
    last_user_is: Option<String>,
    last_user: Option<String>,
    system: Option<String>,
    anywhere: Option<String>,
    model: Option<String>,
    tools: Option<bool>,
}

impl RequestMatcher {
    pub fn any() -> Self {
        Self::default()
    }

    /// The last user message, trimmed, is exactly this.
    #[must_use]
    pub fn last_user_is(mut self, text: impl Into<String>) -> Self {
        self.last_user_is = Some(text.into());
        self
    }

    /// The last user message contains this.
    #[must_use]
    pub fn last_user(mut self, text: impl Into<String>) -> Self {
        self.last_user = Some(text.into());
        self
    }

    /// The system prompt contains this.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// Any text of the request contains this.
    #[must_use]
    pub fn anywhere(mut self, text: impl Into<String>) -> Self {
        self.anywhere = Some(text.into());
        self
    }

    /// The name of the model contains this.
    #[must_use]
    pub fn model(mut self, text: impl Into<String>) -> Self {
        self.model = Some(text.into());
        self
    }

    /// The request offers tools, or offers none.
    #[must_use]
    pub fn tools(mut self, offered: bool) -> Self {
        self.tools = Some(offered);
        self
    }

    fn matches(&self, request: &RecordedRequest) -> bool {
        let has = |text: String, part: &Option<String>| {
            part.as_ref().is_none_or(|part| text.contains(part.as_str()))
        };
        self.tools.is_none_or(|tools| tools == request.offers_tools())
            && has(request.model(), &self.model)
            && has(request.last_user(), &self.last_user)
            && self.last_user_is.as_ref().is_none_or(|text| request.last_user().trim() == text)
            && has(request.system(), &self.system)
            && self.anywhere.as_ref().is_none_or(|text| request.contains_text(text))
    }
}
