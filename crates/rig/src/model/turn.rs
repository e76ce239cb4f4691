//! One answer of the model, independent of the API in which it will be spoken.

use serde_json::Value;

use super::fault::Fault;
use super::gate::Gate;

/// What the model says at its turn: text, tool calls, or a fault.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    pub(crate) thinking: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) stop: Stop,
    pub(crate) usage: Metered,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) fault: Option<Fault>,
    pub(crate) gate: Option<Gate>,
}

/// A tool the model wants run.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    pub input: Value,
}

/// Why the model stopped. A turn with calls stops for them, whatever is said here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    #[default]
    EndTurn,
    MaxTokens,
    Refusal,
}

/// Tokens as the provider bills them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Metered {
    /// 100 in, and a quarter of the answer's bytes out.
    #[default]
    ByLength,
    Exactly(Usage),
    /// Some compatible servers report nothing.
    Absent,
}

impl Turn {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    pub fn call(name: impl Into<String>, input: Value) -> Self {
        Self::default().and_call(name, input)
    }

    /// An error answer, with the body that the API in question sends for this status.
    pub fn error(status: u16) -> Self {
        Self::default().fault(Fault::Status(status))
    }

    /// The same turn with one more tool call; calls of one turn run in parallel.
    #[must_use]
    pub fn and_call(mut self, name: impl Into<String>, input: Value) -> Self {
        self.calls.push(Call {
            name: name.into(),
            input,
        });
        self
    }

    #[must_use]
    pub fn thinking(mut self, text: impl Into<String>) -> Self {
        self.thinking = Some(text.into());
        self
    }

    #[must_use]
    pub fn stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Metered::Exactly(usage);
        self
    }

    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = Metered::Absent;
        self
    }

    /// A header of the response, for example `retry-after` or `location`.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Answers only once the test has opened the gate.
    #[must_use]
    pub fn after(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// The bill of this turn, or none if the turn reports none.
    pub(crate) fn bill(&self) -> Option<Usage> {
        match self.usage {
            Metered::Absent => None,
            Metered::Exactly(usage) => Some(usage),
            Metered::ByLength => {
                let text = self.text.as_ref().map_or(0, String::len);
                let thinking = self.thinking.as_ref().map_or(0, String::len);
                let calls: usize = self.calls.iter().map(|c| c.input.to_string().len()).sum();
                let output = ((text + thinking + calls) / 4).max(1) as u64;
                Some(Usage {
                    input: 100,
                    output,
                    cache_read: 0,
                    cache_write: 0,
                })
            }
        }
    }
}
