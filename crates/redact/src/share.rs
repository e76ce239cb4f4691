//! Fits a JSON value into a byte limit: fewer items first, then shorter texts.

use serde_json::Value;

use super::cut::HeadTailLimit;
use super::json_walk::is_lines;
use claude_mem_core::limits::ELISION_BYTES_MAX;

/// Minimum cost of a JSON value against the limit.
const NODE_BYTES: usize = 32;

/// Drops items from the ends of arrays and objects until few enough remain.
pub(super) fn prune(value: &mut Value, keep: HeadTailLimit) {
    let mut left = keep.bytes_max() / NODE_BYTES;
    prune_to(value, &mut left);
}

fn prune_to(value: &mut Value, left: &mut usize) {
    *left = left.saturating_sub(1);
    match value {
        // Lines are one text, however many.
        Value::Array(items) if is_lines(items) => {}
        Value::Array(items) => {
            let fit = items.iter_mut().map_while(|item| visit(item, left).then_some(())).count();
            let dropped = items.len() - fit;
            items.truncate(fit);
            if dropped > 0 {
                items.push(Value::String(format!("[… {dropped} items elided …]")));
            }
        }
        Value::Object(fields) => {
            let before = fields.len();
            fields.retain(|_, field| visit(field, left));
            let dropped = before - fields.len();
            if dropped > 0 {
                fields.insert("…".to_owned(), Value::String(format!("[… {dropped} fields elided …]")));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn visit(value: &mut Value, left: &mut usize) -> bool {
    let fits = *left > 0;
    if fits {
        prune_to(value, left);
    }
    fits
}

/// The limit per text so that all texts together fit into `keep`.
pub(super) fn per_text_limit(value: &Value, keep: HeadTailLimit) -> HeadTailLimit {
    let mut sizes = Vec::new();
    measure(value, &mut sizes);
    let total: usize = sizes.iter().sum();
    if total <= keep.bytes_max() {
        return keep;
    }
    sizes.sort_unstable();
    let (mut left, mut texts) = (keep.bytes_max(), sizes.len());
    for size in sizes {
        if size > left / texts {
            break;
        }
        left -= size;
        texts -= 1;
    }
    HeadTailLimit::from_total((left / texts.max(1)).saturating_sub(ELISION_BYTES_MAX))
}

/// Collects the sizes of all texts and keys.
fn measure(value: &Value, sizes: &mut Vec<usize>) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => sizes.push(text.len()),
        Value::Array(items) if is_lines(items) => {
            let lines = items.iter().filter_map(Value::as_str);
            sizes.push(lines.map(|line| line.len() + 1).sum());
        }
        Value::Array(items) => items.iter().for_each(|item| measure(item, sizes)),
        Value::Object(fields) => {
            for (key, field) in fields {
                sizes.push(key.len());
                measure(field, sizes);
            }
        }
    }
}
