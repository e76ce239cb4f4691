//! Parses a memory file into the memories it holds: one per section, or one per bullet of a list.

use claude_mem_core::first_sentence;
use claude_mem_core::limits::TITLE_CHARS_MAX;
use claude_mem_core::memory::ObservationType;

/// One memory of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MemorySection {
    pub title: String,
    /// The heading that a bullet stands under; empty if it says nothing.
    pub heading: String,
    pub text: String,
}

/// A part of the file under one heading.
struct HeadedPart {
    heading: String,
    /// It names the file, not what stands below it.
    is_file_name: bool,
    lines: Vec<String>,
}

/// The type of a file's memories, and its sections. A section without text, and links to other memory files, are left
/// out. No title is only the name or the first heading of the file.
pub(super) fn parse(name: &str, text: &str) -> (ObservationType, Vec<MemorySection>) {
    let (head, body) = front_matter(text);
    let field = |wanted: &str| {
        let fields = head.lines().filter_map(|line| line.split_once(':'));
        let found = fields.into_iter().find(|(key, _)| key.trim() == wanted);
        found.map(|(_, value)| value.trim().trim_matches('"').to_owned()).filter(|value| !value.is_empty())
    };
    let kind = match field("type").as_deref() {
        Some("feedback" | "user") => ObservationType::DECISION,
        _ => ObservationType::DISCOVERY,
    };
    let description = field("description");
    let whole = HeadedPart {
        is_file_name: description.is_none(),
        heading: description.unwrap_or_else(|| name.replace(['-', '_'], " ")),
        lines: Vec::new(),
    };
    let parts = headed_parts(whole, body);
    (kind, parts.iter().flat_map(sections_of).collect())
}

fn headed_parts(whole: HeadedPart, body: &str) -> Vec<HeadedPart> {
    let mut parts = vec![whole];
    let mut is_code = false;
    for line in body.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        if !is_code && level > 0 && heading.starts_with(' ') {
            let heading = heading.trim().to_owned();
            parts.push(HeadedPart { heading, is_file_name: level == 1, lines: Vec::new() });
        } else if let Some(part) = parts.last_mut() {
            part.lines.push(line.to_owned());
        }
    }
    parts
}

/// A part of nothing but bullets gives one memory per bullet. Otherwise its heading is the title, if it says what
/// stands below it.
fn sections_of(part: &HeadedPart) -> Vec<MemorySection> {
    let (prose, bullets) = split_bullets(&part.lines);
    let bullets = bullets.into_iter().filter(|bullet| !is_link(bullet));
    let heading = if part.is_file_name { String::new() } else { part.heading.clone() };
    let bullet = |text: String| MemorySection { heading: heading.clone(), ..titled_by_text(&text) };
    if part.is_file_name {
        let prose = (!prose.is_empty()).then(|| titled_by_text(&prose));
        return prose.into_iter().chain(bullets.map(bullet)).collect();
    }
    if prose.is_empty() {
        return bullets.map(bullet).collect();
    }
    let text = part.lines.join("\n").trim().to_owned();
    vec![MemorySection { title: part.heading.clone(), heading: String::new(), text }]
}

/// A memory whose title is the first sentence of its text.
fn titled_by_text(text: &str) -> MemorySection {
    let sentence = first_sentence(text);
    let plain: String = sentence.replace("**", "").chars().take(TITLE_CHARS_MAX).collect();
    let title = plain.trim().trim_end_matches(':').to_owned();
    let is_all = text.trim() == sentence;
    MemorySection {
        title,
        heading: String::new(),
        text: if is_all { String::new() } else { text.to_owned() },
    }
}

/// The text outside of lists, and each bullet of the top level with the lines that belong to it.
fn split_bullets(lines: &[String]) -> (String, Vec<String>) {
    let (mut prose, mut bullets) = (String::new(), Vec::<String>::new());
    let (mut is_code, mut is_in_list) = (false, false);
    for line in lines {
        is_code ^= line.trim_start().starts_with("```");
        let bullet = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
        let is_indented = line.starts_with([' ', '\t']) || line.trim().is_empty() || is_code;
        match (bullet.filter(|_| !is_code), bullets.last_mut()) {
            (Some(text), _) => {
                bullets.push(text.to_owned());
                is_in_list = true;
            }
            (None, Some(last)) if is_in_list && is_indented => {
                last.push('\n');
                last.push_str(line);
            }
            _ => {
                is_in_list = false;
                prose.push_str(line);
                prose.push('\n');
            }
        }
    }
    let bullets = bullets.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    (prose.trim().to_owned(), bullets.collect())
}

/// Whether a bullet only points to another memory file.
fn is_link(bullet: &str) -> bool {
    bullet.contains(".md)") && bullet.lines().count() == 1
}

/// The fields between two lines `---` at the start, and the rest.
fn front_matter(text: &str) -> (&str, &str) {
    let fields = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    fields.map_or(("", text), |(head, rest)| (head, rest.split_once('\n').map_or("", |(_, rest)| rest)))
}

#[cfg(test)]
#[path = "memory_file_sections_tests.rs"]
mod tests;
