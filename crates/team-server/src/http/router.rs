//! The routes.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{delete, get, patch, post};
use claude_mem_wire::{ErrorCode, routes};

use super::admin_handlers;
use super::gate::gate;
use super::handlers;
use super::reply::error_response;
use super::service::TeamService;

pub(crate) fn build_router(service: &Arc<TeamService>) -> Router {
    let nothing = || async { not_found() };
    Router::new()
        .route(routes::HELLO, get(handlers::hello))
        .route(routes::JOIN, post(handlers::join))
        .route(routes::ME, get(handlers::me))
        .route(routes::SPACES, post(handlers::spaces))
        .route(routes::PUSH, post(handlers::push))
        .route(routes::RECORDS, get(handlers::records))
        .route(routes::NAMES, get(handlers::names))
        .route(routes::WAIT, post(handlers::wait))
        .route(routes::INVITES, post(admin_handlers::invites))
        .route(routes::MEMBER, patch(admin_handlers::member))
        .route(routes::DEVICE, delete(admin_handlers::device))
        .route(routes::RETRACT, post(admin_handlers::retract))
        .route(routes::AUDIT, get(admin_handlers::audit))
        .route("/healthz", get(handlers::healthz))
        .route("/readyz", get(handlers::readyz))
        .fallback(nothing)
        .method_not_allowed_fallback(nothing)
        .layer(from_fn_with_state(Arc::clone(service), gate))
        .with_state(Arc::clone(service))
}

fn not_found() -> Response {
    error_response(ErrorCode::NotFound, "there is no such route".to_owned(), None)
}
