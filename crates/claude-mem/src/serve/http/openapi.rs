//! The API's description, made from the table of routes and the types of their handlers.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::api::Api;
use super::call::Params;
use super::guard::{Access, TOKEN};
use super::problem::Problem;
use super::route::{Act, Nothing, Route};
use super::stream;
use super::table::routes;
use crate::store::RowKind;

/// OpenAPI 3.1.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Document(Value);

impl schemars::JsonSchema for Document {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OpenApi".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "object" })
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of a handler")]
pub(super) fn document(_: &Api, _: &Params, _: Nothing) -> Result<Document, Problem> {
    Ok(Document(describe(&routes())))
}

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
    let mut parameters = of_path(route.path);
    if matches!(route.act, Act::Stream) {
        let about = "The id of the last event that was seen: what came after it is told.";
        let schema = json!({ "type": "string", "pattern": r"^\d+(\.\d+){4}$" });
        parameters.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": about, "schema": schema,
        }));
    }
    if let Some(query) = route.query {
        parameters.extend(of_query(&query(generator)));
    }
    let content = match (&route.act, route.answer) {
        (Act::Page, _) => json!({ "text/html": {} }),
        (Act::Asset, _) => json!({ "*/*": {} }),
        (Act::Stream, _) => json!({ "text/event-stream": {
            "schema": { "type": "string" },
            "x-events": stream::events(generator),
        } }),
        (Act::Run(_), Some(answer)) => {
            json!({ "application/json": { "schema": answer(generator) } })
        }
        (Act::Run(_), None) => json!({}),
    };
    let mut operation = json!({
        "summary": route.about,
        "parameters": parameters,
        "responses": responses(route, &content, problem),
        "security": match route.access {
            Access::Open | Access::Page => json!([]),
            Access::Token => json!([{ "token": [] }]),
        },
    });
    if let Some(body) = route.body {
        operation["requestBody"] = json!({
            // A body that says nothing asks for the usual.
            "required": false,
            "content": { "application/json": { "schema": body(generator) } },
        });
    }
    operation
}

/// What the route answers when all is well, and each way in which it says that it is not.
fn responses(route: &Route, content: &Value, problem: &Schema) -> Value {
    let problem = json!({ "application/json": { "schema": problem } });
    let mut responses = json!({ "200": { "description": "Done", "content": content } });
    let mut also = |status: &str, about: &str| {
        responses[status] = json!({ "description": about, "content": problem });
    };
    if route.access == Access::Token {
        also("401", "A token is needed");
    }
    if route.query.is_some() {
        also("400", "A parameter is not understood");
    }
    if route.path.contains('{') {
        also("404", "It is not there");
    }
    if route.body.is_some() {
        also("400", "The body is not JSON, or broke off");
        also("413", "The body is too long");
        also("415", "The body is not said to be JSON");
        also("422", "The body asks for what cannot be");
    }
    also("503", "The store or the worker is not ready");
    also("default", "What is the matter, and what to do");
    responses
}

/// `{id}` and the like.
fn of_path(path: &str) -> Vec<Value> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            let schema = match name {
                "kind" => json!({ "type": "string", "enum": RowKind::ALL.map(RowKind::as_str) }),
                // Our number, or the client's own id.
                "id" if path.starts_with("/api/sessions/") => json!({ "type": "string" }),
                "id" => json!({ "type": "integer", "minimum": 1 }),
                _ => json!({ "type": "string" }),
            };
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        })
        .collect()
}

fn of_query(schema: &Schema) -> Vec<Value> {
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
