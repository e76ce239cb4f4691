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
use super::table::routes;

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
    if let Some(query) = route.query {
        parameters.extend(of_query(&query(generator)));
    }
    let content = match (&route.act, route.answer) {
        (Act::Page, _) => json!({ "text/html": {} }),
        (Act::Asset, _) => json!({ "*/*": {} }),
        (Act::Stream, _) => json!({ "text/event-stream": {} }),
        (Act::Run(_), Some(answer)) => {
            json!({ "application/json": { "schema": answer(generator) } })
        }
        (Act::Run(_), None) => json!({}),
    };
    let mut operation = json!({
        "summary": route.about,
        "parameters": parameters,
        "responses": {
            "200": { "description": "Done", "content": content },
            "default": {
                "description": "What is the matter, and what to do",
                "content": { "application/json": { "schema": problem } },
            },
        },
        "security": match route.access {
            Access::Open => json!([]),
            Access::Token => json!([{ "token": [] }]),
        },
    });
    if let Some(body) = route.body {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": body(generator) } },
        });
    }
    operation
}

/// `{id}` and the like.
fn of_path(path: &str) -> Vec<Value> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            let schema = json!({ "type": "string" });
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
