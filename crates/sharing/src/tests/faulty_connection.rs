//! [`FaultyConnection`]: a connection to any team server that loses requests and answers, and delivers pushes again
//! later. For tests.

use std::cell::{Cell, RefCell};

use crate::server::{RecordsQuery, TeamServer};
use crate::sharing_error::SharingError;
use claude_mem_wire::messages::{
    MeReply, NamesPage, PushReply, PushRequest, RecordsPage, SpaceInfo, SpaceRequest, WaitReply, WaitRequest,
};
use claude_mem_wire::{ErrorCode, RecordUid, SpaceId};

/// A fault of the network in one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkFate {
    Delivered,
    /// The request does not arrive.
    RequestLost,
    /// The request arrives and its answer does not.
    AnswerLost,
    /// A push arrives, its answer does not, and the network delivers it again later.
    DeliveredAgainLater,
}

/// A connection whose requests have a fate.
pub(crate) struct FaultyConnection<S> {
    pub inner: S,
    /// Decides the fate of each request.
    pub fate: RefCell<Box<dyn FnMut() -> NetworkFate>>,
    /// Larger pushes do not get through.
    pub push_records_max: Cell<usize>,
    /// The same in bytes of bodies.
    pub push_bytes_max: Cell<usize>,
    /// Nobody says that a push was too large: its answer just does not come.
    pub is_silent_when_too_large: Cell<bool>,
    /// The server refuses every push: the member may only read.
    pub refuses_pushes: Cell<bool>,
    /// Pushes that the network will deliver again.
    late: RefCell<Vec<(SpaceId, PushRequest)>>,
}

impl<S: TeamServer> FaultyConnection<S> {
    /// A connection that delivers everything.
    pub(crate) fn new(inner: S) -> Self {
        Self {
            inner,
            fate: RefCell::new(Box::new(|| NetworkFate::Delivered)),
            push_records_max: Cell::new(usize::MAX),
            push_bytes_max: Cell::new(usize::MAX),
            is_silent_when_too_large: Cell::new(false),
            refuses_pushes: Cell::new(false),
            late: RefCell::new(Vec::new()),
        }
    }

    /// Delivers what the network held back.
    pub(crate) fn deliver_late(&self) {
        for (space, request) in self.late.take() {
            self.inner.push(space, &request).unwrap();
        }
    }

    fn next_fate(&self) -> NetworkFate {
        (self.fate.borrow_mut())()
    }

    fn exchange<R>(
        &self,
        fate: NetworkFate,
        act: impl FnOnce(&S) -> Result<R, SharingError>,
    ) -> Result<R, SharingError> {
        let lost = SharingError::Unreachable { why: "lost".to_owned(), retry_after: None };
        if fate == NetworkFate::RequestLost {
            return Err(lost);
        }
        let answer = act(&self.inner)?;
        if fate == NetworkFate::Delivered { Ok(answer) } else { Err(lost) }
    }
}

impl<S: TeamServer> TeamServer for FaultyConnection<S> {
    fn me(&self) -> Result<MeReply, SharingError> {
        self.exchange(self.next_fate(), TeamServer::me)
    }

    fn space(&self, request: &SpaceRequest) -> Result<SpaceInfo, SharingError> {
        self.exchange(self.next_fate(), |server| server.space(request))
    }

    fn push(&self, space: SpaceId, request: &PushRequest) -> Result<PushReply, SharingError> {
        let fate = self.next_fate();
        if self.refuses_pushes.get() {
            let message = "readers do not share".to_owned();
            return Err(SharingError::Refused { code: ErrorCode::Forbidden, message });
        }
        let bodies = request.records.iter().filter_map(|record| record.body.as_ref());
        let bytes: usize = bodies.map(|body| body.as_str().len()).sum();
        if request.records.len() > self.push_records_max.get() || bytes > self.push_bytes_max.get() {
            if self.is_silent_when_too_large.get() {
                return Err(SharingError::TimedOut);
            }
            let (code, message) = (ErrorCode::TooLarge, "the body did not arrive in time".to_owned());
            return Err(SharingError::Refused { code, message });
        }
        if fate == NetworkFate::DeliveredAgainLater {
            self.late.borrow_mut().push((space, request.clone()));
        }
        self.exchange(fate, |server| server.push(space, request))
    }

    fn records(&self, space: SpaceId, query: &RecordsQuery) -> Result<RecordsPage, SharingError> {
        self.exchange(self.next_fate(), |server| server.records(space, query))
    }

    fn names(&self, space: SpaceId, after: Option<RecordUid>) -> Result<NamesPage, SharingError> {
        self.exchange(self.next_fate(), |server| server.names(space, after))
    }

    fn wait(&self, request: &WaitRequest) -> Result<WaitReply, SharingError> {
        self.exchange(self.next_fate(), |server| server.wait(request))
    }
}
