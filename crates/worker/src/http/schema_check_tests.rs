//! Checks JSON values against the schemas of our OpenAPI document, for tests.

use serde_json::Value;

/// The first violation of the schema, with its JSON pointer.
pub(super) fn schema_violation(value: &Value, schema: &Value, all: &Value) -> Option<String> {
    check_value("", value, schema, all).err()
}

fn check_value(place: &str, value: &Value, schema: &Value, all: &Value) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{place}: {what}: {value}"));
    if schema == &Value::Bool(false) {
        return wrong("unexpected property");
    }
    if let Some(name) = schema["$ref"].as_str() {
        let target = all.pointer(name.trim_start_matches('#'));
        check_value(place, value, target.ok_or(format!("no {name}"))?, all)?;
    }
    for of in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[of].as_array() {
            let fits = choices.iter().any(|choice| check_value(place, value, choice, all).is_ok());
            if !fits {
                return wrong("matches no alternative");
            }
        }
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        check_value(place, value, part, all)?;
    }
    if let Some(choices) = schema["enum"].as_array()
        && !choices.contains(value)
    {
        return wrong("not in the enum");
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return wrong("differs from the constant");
    }
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect::<Vec<_>>(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| has_type(value, kind)) {
        return wrong("wrong type");
    }
    if value.as_f64() < schema["minimum"].as_f64().filter(|_| value.is_number()) {
        return wrong("below the minimum");
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        check_value(&format!("{place}/{index}"), item, &schema["items"], all)?;
    }
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        if name.as_str().is_some_and(|name| !object.contains_key(name)) {
            return wrong(&format!("{name} is missing"));
        }
    }
    for (name, value) in object {
        let place = format!("{place}/{name}");
        match schema["properties"].get(name) {
            Some(of) => check_value(&place, value, of, all)?,
            None => check_value(&place, value, &schema["additionalProperties"], all)?,
        }
    }
    Ok(())
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::schema_violation;

    #[test]
    fn violations_are_found() {
        let all =
            json!({ "components": { "schemas": { "Kind": { "type": "string", "enum": ["a", "b"] } } } });
        let schema = json!({
            "type": "object",
            "properties": {
                "kind": { "$ref": "#/components/schemas/Kind" },
                "many": { "type": "array", "items": { "type": ["integer", "null"], "minimum": 0 } },
            },
            "required": ["kind"],
            "additionalProperties": false,
        });
        assert_eq!(schema_violation(&json!({ "kind": "a", "many": [1, null] }), &schema, &all), None);
        for wrong in [
            json!({}),
            json!([]),
            json!({ "kind": "c" }),
            json!({ "kind": "a", "many": 1 }),
            json!({ "kind": "a", "many": ["1"] }),
            json!({ "kind": "a", "many": [-1] }),
            json!({ "kind": "a", "other": 1 }),
        ] {
            assert!(schema_violation(&wrong, &schema, &all).is_some(), "{wrong}");
        }
    }
}
