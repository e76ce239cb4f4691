//! [`TeamServer`]: the routes of the protocol that the engine uses.

use crate::sharing_error::SharingError;
use claude_mem_wire::messages::{
    MeReply, NamesPage, PushReply, PushRequest, RecordsPage, SpaceInfo, SpaceRequest, WaitReply, WaitRequest,
};
use claude_mem_wire::{RecordUid, SpaceId};

/// Selects records of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordsQuery {
    /// Above a number, ascending, removed ones included.
    After(i64),
    /// Below a number, descending, live ones only.
    Before(i64),
    Named(Vec<RecordUid>),
}

/// A team's server.
pub trait TeamServer {
    fn me(&self) -> Result<MeReply, SharingError>;
    fn space(&self, request: &SpaceRequest) -> Result<SpaceInfo, SharingError>;
    fn push(&self, space: SpaceId, request: &PushRequest) -> Result<PushReply, SharingError>;
    fn records(&self, space: SpaceId, query: &RecordsQuery) -> Result<RecordsPage, SharingError>;
    fn names(&self, space: SpaceId, after: Option<RecordUid>) -> Result<NamesPage, SharingError>;
    fn wait(&self, request: &WaitRequest) -> Result<WaitReply, SharingError>;
}
