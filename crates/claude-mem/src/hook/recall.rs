//! What a hook tells the agent, beyond "go on".

use super::agents::{Agent, Kind};
use super::answer::Answer;
use super::wire::Head;
use crate::paths::DataDir;

/// What the choice of an answer can depend on.
#[derive(Debug)]
pub struct Question<'a> {
    pub agent: &'static Agent,
    pub kind: Kind,
    pub head: &'a Head,
    pub dir: &'a DataDir,
}

/// The answer to one hook call. Nothing is recalled yet.
pub fn answer(_question: &Question<'_>) -> Answer {
    Answer::Neutral
}
