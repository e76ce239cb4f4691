//! Parses the list formats of all legacy versions: JSON, or text with commas, pipes or line breaks.

use serde_json::Value;

/// Parses a list in any format. With `by_comma`, commas separate entries: file names and concepts
/// hardly ever contain one, sentences do.
pub(super) fn parse_list(text: Option<String>, by_comma: bool) -> Vec<String> {
    let Some(text) = text else {
        return Vec::new();
    };
    let mut found: Vec<String> = match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(values)) => values.iter().filter_map(list_entry).collect(),
        Ok(Value::String(inner)) if inner != text => return parse_list(Some(inner), by_comma),
        Ok(Value::Null) => Vec::new(),
        _ => split_list(&text, by_comma),
    };
    let mut seen = std::collections::HashSet::new();
    found.retain(|entry| seen.insert(entry.clone()));
    found
}

fn list_entry(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => return None,
        Value::Object(fields) => {
            // Some models returned an object instead of the requested sentence.
            let texts = fields.values().filter_map(Value::as_str).map(str::trim);
            texts.collect::<Vec<_>>().join(": ")
        }
        other => other.to_string(),
    };
    Some(text).filter(|text| !text.is_empty())
}

fn split_list(text: &str, by_comma: bool) -> Vec<String> {
    let divides = |c: char| c == '|' || c == '\n' || (by_comma && c == ',');
    let entries = text.split(divides).map(|entry| entry.trim().trim_start_matches("- "));
    entries.filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::parse_list;

    #[test]
    fn lists_are_parsed_in_every_form() {
        for (text, by_comma, want) in [
            (r#"["a, b", "c"]"#, true, &["a, b", "c"][..]),
            ("a.rs,b.rs , c.rs", true, &["a.rs", "b.rs", "c.rs"]),
            ("One, and more.|Two.", false, &["One, and more.", "Two."]),
            ("- one\n- two\n", false, &["one", "two"]),
            (r#""[\"a\"]""#, true, &["a"]),
            ("[]", true, &[]),
            ("null", true, &[]),
            ("[not json", false, &["[not json"]),
            (r#"["a", "a", null, 3, {"k": "v"}]"#, true, &["a", "3", "v"]),
        ] {
            assert_eq!(parse_list(Some(text.to_owned()), by_comma), want, "{text:?}");
        }
        assert_eq!(parse_list(None, true), [""; 0]);
    }
}
