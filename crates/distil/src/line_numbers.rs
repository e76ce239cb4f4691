//! Texts without numbers of lines, which the next edit makes wrong.

/// The text without places that are over with the next edit: "(line 31)", "(lines ~701-737)".
pub(crate) fn without_line_numbers(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, inside)) = rest.split_once(" (") {
        let (bracket, after) = inside.split_once(')').unwrap_or((inside, ""));
        kept.push_str(before);
        let lower = bracket.to_lowercase();
        let places = ["line ", "lines ", "after line ", "around line ", "~line "];
        let is_place = places.iter().any(|place| lower.starts_with(place))
            && bracket.chars().any(|c| c.is_ascii_digit());
        if !is_place || !inside.contains(')') {
            kept.push_str(" (");
            kept.push_str(bracket);
            if inside.contains(')') {
                kept.push(')');
            }
        }
        rest = after;
    }
    kept.push_str(rest);
    without_line_of(&kept)
}

/// "Changed the mode on line 79 of `list.rs`" → "Changed the mode in `list.rs`".
fn without_line_of(text: &str) -> String {
    let Some((before, rest)) = text.split_once(" on line ").or_else(|| text.split_once(" at line ")) else {
        return text.to_owned();
    };
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match after.strip_prefix(" of ").or_else(|| after.strip_prefix(" in ")) {
        Some(file) if after.len() < rest.len() => format!("{before} in {file}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_line_numbers;

    #[test]
    fn lines_of_files_are_left_out() {
        for (said, told) in [
            ("Changed the mode on line 79 of `list.rs`", "Changed the mode in `list.rs`"),
            ("The check (line 31) compares ids", "The check compares ids"),
            ("Printed on line paper", "Printed on line paper"),
        ] {
            assert_eq!(without_line_numbers(said), told);
        }
    }
}
