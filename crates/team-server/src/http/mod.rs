//! The HTTP side: routes, bodies, limits, TLS and the listener.
//!
//! Every request passes [`gate`](gate::gate): protocol version, rate limit, compression. Handlers take a
//! token from the header and do one transaction each.

mod admin_handlers;
mod body;
mod gate;
mod handlers;
mod listener;
mod reply;
mod router;
mod service;
mod tls;
mod write_timeout;

pub(crate) use listener::{CONNECTIONS_MAX, ListenerSettings, serve};
pub(crate) use router::build_router;
pub(crate) use service::TeamService;
pub(crate) use tls::CertificateFiles;
