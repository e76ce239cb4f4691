//! The text form of an observation in the editor: `Title:`, `Type:`, the narrative, `Facts:`.

use claude_mem_recall::manual_edits::ObservationCorrection;
use claude_mem_store::Observation;

const FACTS: &str = "Facts:";

/// Renders an observation for the editor.
pub(super) fn render(row: &Observation) -> String {
    let mut text = format!("Title: {}\nType: {}\n\n", row.text.title, row.text.kind);
    if !row.text.narrative.trim().is_empty() {
        text.push_str(row.text.narrative.trim());
        text.push_str("\n\n");
    }
    text.push_str(FACTS);
    text.push('\n');
    for fact in &row.text.facts {
        text.push_str("- ");
        text.push_str(&fact.replace('\n', " "));
        text.push('\n');
    }
    text
}

/// Parses the edited text. The error says what is missing.
pub(super) fn parse(text: &str) -> Result<ObservationCorrection, String> {
    let mut lines = text.lines();
    let mut field = |name: &str| {
        let line = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.strip_prefix(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .ok_or_else(|| format!("the line `{name} …` is missing"))
    };
    let title = field("Title:")?;
    let kind = field("Type:")?;
    let rest: Vec<&str> = lines.collect();
    let facts_at = rest.iter().rposition(|line| line.trim() == FACTS);
    let (text, facts) = rest.split_at(facts_at.unwrap_or(rest.len()));
    let facts = facts.iter().skip(1).map(|line| line.trim().trim_start_matches("- ").trim());
    Ok(ObservationCorrection {
        title: Some(title),
        kind: Some(kind.to_lowercase()),
        text: Some(text.join("\n").trim().to_owned()),
        facts: Some(facts.filter(|fact| !fact.is_empty()).map(str::to_owned).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edited_text_is_parsed() {
        let text = "Title: Carts expire\nType: Bugfix\n\nThe TTL was\n\ntoo short.\n\nFacts:\n- one\n\n- two, three\n";
        let read = parse(text).unwrap();
        assert_eq!(read.title.as_deref(), Some("Carts expire"));
        assert_eq!(read.kind.as_deref(), Some("bugfix"));
        assert_eq!(read.text.as_deref(), Some("The TTL was\n\ntoo short."));
        assert_eq!(read.facts, Some(vec!["one".to_owned(), "two, three".to_owned()]));
        assert!(super::parse("Type: bugfix\n").is_err());
        assert!(super::parse("Title:\nType: bugfix\n").is_err());
        assert!(super::parse("").is_err());
    }
}
