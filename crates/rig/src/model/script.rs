//! Which turn answers which request.

use std::collections::VecDeque;

use super::request::Request;
use super::turn::Turn;

/// What the model will say. Rules are tried first, in the order they were given; a request that
/// no rule catches takes the next turn; when those are used up the fallback answers.
///
/// Rules are for the requests that a client makes on the side (warm-ups, titles, subagents,
/// compaction), whose number and order are the client's business.
#[derive(Clone, Debug)]
pub struct Script {
    rules: Vec<Rule>,
    turns: VecDeque<Turn>,
    fallback: Turn,
}

#[derive(Clone, Debug)]
struct Rule {
    when: When,
    turns: VecDeque<Turn>,
    again: bool,
}

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Turn,
    Rule(usize),
    Fallback,
    /// Not a question to the model: a probe, a token count, an unknown path.
    Unscripted,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            turns: VecDeque::new(),
            fallback: Turn::text("ok"),
        }
    }
}

impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    /// A script for a whole session of a client: what clients ask on the side (older ones warm up,
    /// make titles and ask about commands, all without the main conversation's tools) is answered
    /// "ok" and takes no turn.
    pub fn session() -> Self {
        Self::new()
            .always(When::any().last_user_is("Warmup"), Turn::text("ok"))
            .always(When::any().tools(false), Turn::text("ok"))
    }

    #[must_use]
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push_back(turn);
        self
    }

    #[must_use]
    pub fn turns(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.turns.extend(turns);
        self
    }

    /// Answers matching requests with these turns, one after another, and then lets them pass.
    #[must_use]
    pub fn rule(self, when: When, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.add(when, turns.into_iter().collect(), false)
    }

    /// Answers every matching request with this turn.
    #[must_use]
    pub fn always(self, when: When, turn: Turn) -> Self {
        self.add(when, VecDeque::from([turn]), true)
    }

    /// What is answered when nothing is left; the text "ok" unless told otherwise.
    #[must_use]
    pub fn otherwise(mut self, turn: Turn) -> Self {
        self.fallback = turn;
        self
    }

    fn add(mut self, when: When, turns: VecDeque<Turn>, again: bool) -> Self {
        self.rules.push(Rule { when, turns, again });
        self
    }

    pub(crate) fn turns_left(&self) -> usize {
        self.turns.len()
    }

    pub(crate) fn push(&mut self, turn: Turn) {
        self.turns.push_back(turn);
    }

    pub(crate) fn next(&mut self, request: &Request) -> (Turn, Source) {
        for (number, rule) in self.rules.iter_mut().enumerate() {
            if !rule.when.matches(request) {
                continue;
            }
            let turn = if rule.again {
                rule.turns.front().cloned()
            } else {
                rule.turns.pop_front()
            };
            if let Some(turn) = turn {
                return (turn, Source::Rule(number));
            }
        }
        match self.turns.pop_front() {
            Some(turn) => (turn, Source::Turn),
            None => (self.fallback.clone(), Source::Fallback),
        }
    }
}

/// A condition on a request; every part that was given must hold.
#[derive(Clone, Debug, Default)]
pub struct When {
    last_user_is: Option<String>,
    last_user: Option<String>,
    system: Option<String>,
    anywhere: Option<String>,
    model: Option<String>,
    tools: Option<bool>,
}

impl When {
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

    fn matches(&self, request: &Request) -> bool {
        let has = |text: String, part: &Option<String>| {
            part.as_ref()
                .is_none_or(|part| text.contains(part.as_str()))
        };
        self.tools
            .is_none_or(|tools| tools == request.offers_tools())
            && has(request.model(), &self.model)
            && has(request.last_user(), &self.last_user)
            && self
                .last_user_is
                .as_ref()
                .is_none_or(|text| request.last_user().trim() == text)
            && has(request.system(), &self.system)
            && self.anywhere.as_ref().is_none_or(|text| request.says(text))
    }
}
