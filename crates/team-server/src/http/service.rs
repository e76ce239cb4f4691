//! [`TeamService`]: what all requests share.

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::http::{HeaderMap, header};
use claude_mem_core::clock;
use claude_mem_core::sync::lock;
use claude_mem_wire::{DeviceToken, ErrorCode, SecretHash};
use tokio::sync::watch;

use crate::db::Database;
use crate::error::ServiceError;
use crate::rate::{RateLimiter, RequestRate};
use crate::wait::WaitHub;

/// Requests of one device.
const DEVICE_RATE: RequestRate = RequestRate { per_second: 50.0, burst: 200.0 };

/// Attempts to join, and requests with an unknown token, of one address.
const STRANGER_RATE: RequestRate = RequestRate { per_second: 1.0, burst: 20.0 };

/// Tokens that are remembered as valid. With more, all of them have to prove it again.
const KNOWN_TOKENS_MAX: usize = 10_000;

/// State that all requests share.
#[derive(Debug)]
pub(crate) struct TeamService {
    pub(crate) database: Database,
    pub(crate) hub: Arc<WaitHub>,
    pub(crate) ending: watch::Receiver<bool>,
    pub(crate) behind_proxy: bool,
    devices: RateLimiter<SecretHash>,
    strangers: RateLimiter<IpAddr>,
    /// Tokens that were valid once. They do not wait for the strangers of their address; whether they still are valid
    /// is asked at every request.
    known: Mutex<HashSet<SecretHash>>,
}

impl TeamService {
    pub(crate) fn new(
        database: Database,
        hub: Arc<WaitHub>,
        ending: watch::Receiver<bool>,
        behind_proxy: bool,
    ) -> Self {
        let devices = RateLimiter::new(DEVICE_RATE);
        let strangers = RateLimiter::new(STRANGER_RATE);
        Self { database, hub, ending, behind_proxy, devices, strangers, known: Mutex::default() }
    }

    /// The hash of the request's token, if the device may send another request now.
    pub(crate) fn token(&self, headers: &HeaderMap) -> Result<SecretHash, ServiceError> {
        const MISSING: ServiceError = ServiceError::Refused(ErrorCode::Unauthorized, "a token is required");
        let hash = presented_token(headers).ok_or(MISSING)?;
        self.devices.take(hash, Instant::now()).map_err(ServiceError::TooMany)?;
        Ok(hash)
    }

    /// Refuses a token that nobody knows from an address that guessed too much, before the database is asked.
    pub(crate) fn check_stranger(
        &self,
        token: &SecretHash,
        address: IpAddr,
        now: Instant,
    ) -> Result<(), ServiceError> {
        if lock(&self.known).contains(token) {
            return Ok(());
        }
        self.strangers.check(&address, now).map_err(ServiceError::TooMany)
    }

    /// Remembers a token that was valid.
    pub(crate) fn remember(&self, token: SecretHash) {
        let mut known = lock(&self.known);
        if known.len() >= KNOWN_TOKENS_MAX {
            known.clear();
        }
        known.insert(token);
    }

    /// Counts a request without a valid token, or an attempt to join.
    pub(crate) fn count_stranger(
        &self,
        token: Option<SecretHash>,
        address: IpAddr,
        now: Instant,
    ) -> Result<(), ServiceError> {
        if let Some(token) = token {
            lock(&self.known).remove(&token);
        }
        self.strangers.take(address, now).map_err(ServiceError::TooMany)
    }
}

/// The hash of the token in the headers.
pub(crate) fn presented_token(headers: &HeaderMap) -> Option<SecretHash> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    Some(value.strip_prefix("Bearer ").and_then(DeviceToken::parse)?.hash())
}

/// The server's time.
pub(crate) fn now() -> i64 {
    clock::now().millis().0
}
