//! [`TeamService`]: what all requests share.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::http::{HeaderMap, header};
use claude_mem_core::clock;
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

/// State that all requests share.
#[derive(Debug)]
pub(crate) struct TeamService {
    pub(crate) database: Database,
    pub(crate) hub: Arc<WaitHub>,
    pub(crate) ending: watch::Receiver<bool>,
    pub(crate) behind_proxy: bool,
    devices: RateLimiter<SecretHash>,
    strangers: RateLimiter<IpAddr>,
}

impl TeamService {
    pub(crate) fn new(
        database: Database,
        hub: Arc<WaitHub>,
        ending: watch::Receiver<bool>,
        behind_proxy: bool,
    ) -> Self {
        let devices = RateLimiter::new(DEVICE_RATE);
        Self { database, hub, ending, behind_proxy, devices, strangers: RateLimiter::new(STRANGER_RATE) }
    }

    /// The hash of the request's token, if the device may send another request now.
    pub(crate) fn token(&self, headers: &HeaderMap) -> Result<SecretHash, ServiceError> {
        const MISSING: ServiceError = ServiceError::Refused(ErrorCode::Unauthorized, "a token is required");
        let value = headers.get(header::AUTHORIZATION).ok_or(MISSING)?.to_str().map_err(|_| MISSING)?;
        let token = value.strip_prefix("Bearer ").and_then(DeviceToken::parse).ok_or(MISSING)?;
        let hash = token.hash();
        self.devices.take(hash, Instant::now()).map_err(ServiceError::TooMany)?;
        Ok(hash)
    }

    /// Counts a request without a valid token.
    pub(crate) fn count_stranger(&self, address: IpAddr) -> Result<(), ServiceError> {
        self.strangers.take(address, Instant::now()).map_err(ServiceError::TooMany)
    }
}

/// The server's time.
pub(crate) fn now() -> i64 {
    clock::now().millis().0
}
