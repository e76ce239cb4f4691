//! The OpenAPI document, generated from the route table and the types of the handlers.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::api::ApiState;
use super::guard::{RouteAccess, TOKEN};
use super::handler_request::PathParams;
use super::problem::Problem;
use super::route::{NoParams, Route, RouteAction};
use super::stream;
use claude_mem_store::RowKind;

/// An OpenAPI 3.1 document.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct OpenApiDocument(Value);

impl schemars::JsonSchema for OpenApiDocument {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OpenApi".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "object" })
    }
}

/// Handles `GET /api/openapi.json`.
#[allow(clippy::unnecessary_wraps, reason = "handlers share one signature")]
pub(super) fn document(api: &ApiState, _: &PathParams, _: NoParams) -> Result<OpenApiDocument, Problem> {
    Ok(OpenApiDocument((api.describe)()))
}

/// Describes these routes.
pub(super) fn describe(routes: &[Route]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<Problem>();
    let mut paths = Map::new();
    for route in routes {
        let operation = operation(route, &mut generator, &problem);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.name()] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "claude-mem", "version": env!("CARGO_PKG_VERSION") },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "token": { "type": "apiKey", "in": "header", "name": TOKEN.as_str() },
            },
        },
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator, problem: &Schema) -> Value {
    let mut parameters = path_parameters(route.path);
    if matches!(route.action, RouteAction::Stream) {
        let about = "The id of the last event received; the stream resumes after it.";
        let schema = json!({ "type": "string", "pattern": r"^\d+(\.\d+){4}$" });
        parameters.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": about, "schema": schema,
        }));
    }
    if let Some(query) = route.query {
        parameters.extend(query_parameters(&query(generator)));
    }
    let content = match (&route.action, route.response) {
        (RouteAction::Page, _) => json!({ "text/html": {} }),
        (RouteAction::Asset, _) => json!({ "*/*": {} }),
        (RouteAction::Stream, _) => json!({ "text/event-stream": {
            "schema": { "type": "string" },
            "x-events": stream::event_schemas(generator),
        } }),
        (RouteAction::Handler(_), Some(answer)) => {
            json!({ "application/json": { "schema": answer(generator) } })
        }
        (RouteAction::Handler(_), None) => json!({}),
    };
    let mut operation = json!({
        "summary": route.summary,
        "parameters": parameters,
        "responses": responses(route, &content, problem),
        "security": match route.access {
            RouteAccess::Open | RouteAccess::Page => json!([]),
            RouteAccess::Token => json!([{ "token": [] }]),
        },
    });
    if let Some(body) = route.body {
        operation["requestBody"] = json!({
            // An empty body means the defaults.
            "required": false,
            "content": { "application/json": { "schema": body(generator) } },
        });
    }
    operation
}

/// The success response of a route and each of its error responses.
fn responses(route: &Route, content: &Value, problem: &Schema) -> Value {
    let problem = json!({ "application/json": { "schema": problem } });
    let mut responses = json!({ "200": { "description": "Success", "content": content } });
    let mut also = |status: &str, about: &str| {
        responses[status] = json!({ "description": about, "content": problem });
    };
    if route.access == RouteAccess::Token {
        also("401", "A valid token is required");
    }
    if route.query.is_some() {
        also("400", "A parameter is invalid");
    }
    if route.path.contains('{') {
        also("404", "Not found");
    }
    if route.body.is_some() {
        also("400", "The body is not JSON or is incomplete");
        also("413", "The body is too large");
        also("415", "The content type is not JSON");
        also("422", "The body is valid JSON but cannot be processed");
    }
    also("503", "The store or the worker is not ready");
    also("default", "What is wrong, and what to do");
    responses
}

/// The path parameters, such as `{id}`.
fn path_parameters(path: &str) -> Vec<Value> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            let schema = match name {
                "kind" => json!({ "type": "string", "enum": RowKind::ALL.map(RowKind::as_str) }),
                // Our session id, or the client's.
                "id" if path.starts_with("/api/sessions/") => json!({ "type": "string" }),
                "id" => json!({ "type": "integer", "minimum": 1 }),
                _ => json!({ "type": "string" }),
            };
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .collect()
}

fn query_parameters(schema: &Schema) -> Vec<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            json!({ "name": name, "in": "query", "required": is_required(name), "schema": schema })
        })
        .collect()
}
