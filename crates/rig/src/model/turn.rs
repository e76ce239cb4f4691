//! One answer of the model ([`ModelTurn`]), independent of the API in which it is sent.

use serde_json::Value;

use super::fault::ResponseFault;
use super::gate::TestGate;

/// One answer of the model: text, tool calls, or a fault.
#[derive(Clone, Debug, Default)]
pub struct ModelTurn {
    pub(crate) thinking: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<ScriptedToolCall>,
    pub(crate) stop: StopReason,
    pub(crate) usage: UsageReporting,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) fault: Option<ResponseFault>,
    pub(crate) gate: Option<TestGate>,
}

/// The part of the script that answered a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnSource {
    Turn,
    Rule(usize),
    Fallback,
    /// The request was not for the model: a probe, a token count, an unknown path.
    Unscripted,
}

/// A tool call that the model requests.
#[derive(Clone, Debug)]
pub struct ScriptedToolCall {
    pub name: String,
    pub input: Value,
}

/// Why the model stopped. A turn with tool calls stops for them regardless of this value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopReason {
    #[default]
    EndTurn,
    MaxTokens,
    Refusal,
}

/// Token counts as the provider bills them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BilledUsage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// How a turn reports its usage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum UsageReporting {
    /// 100 input tokens, and a quarter of the answer's bytes as output tokens.
    #[default]
    ByLength,
    Exactly(BilledUsage),
    /// No usage, as with some compatible servers.
    Absent,
}

impl ModelTurn {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    pub fn call(name: impl Into<String>, input: Value) -> Self {
        Self::default().and_call(name, input)
    }

    /// An error answer, with the body that the respective API sends for this status.
    pub fn error(status: u16) -> Self {
        Self::default().fault(ResponseFault::Status(status))
    }

    /// Adds a tool call; the calls of one turn run in parallel.
    #[must_use]
    pub fn and_call(mut self, name: impl Into<String>, input: Value) -> Self {
        self.calls.push(ScriptedToolCall { name: name.into(), input });
        self
    }

    #[must_use]
    pub fn thinking(mut self, text: impl Into<String>) -> Self {
        self.thinking = Some(text.into());
        self
    }

    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }

    #[must_use]
    pub fn usage(mut self, usage: BilledUsage) -> Self {
        self.usage = UsageReporting::Exactly(usage);
        self
    }

    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = UsageReporting::Absent;
        self
    }

    /// Adds a response header, for example `retry-after` or `location`.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub fn fault(mut self, fault: ResponseFault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Delays the answer until the test opens the gate.
    #[must_use]
    pub fn after(mut self, gate: &TestGate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// The usage that this turn reports, if any.
    pub(crate) fn billed_usage(&self) -> Option<BilledUsage> {
        match self.usage {
            UsageReporting::Absent => None,
            UsageReporting::Exactly(usage) => Some(usage),
            UsageReporting::ByLength => {
                let text = self.text.as_ref().map_or(0, String::len);
                let thinking = self.thinking.as_ref().map_or(0, String::len);
                let calls: usize = self.calls.iter().map(|c| c.input.to_string().len()).sum();
                let output = ((text + thinking + calls) / 4).max(1) as u64;
                Some(BilledUsage { input: 100, output, cache_read: 0, cache_write: 0 })
            }
        }
    }
}
