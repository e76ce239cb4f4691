use super::*;
use std::sync::{Arc, Mutex};

/// Captures what is printed.
#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn printed(width: Option<usize>, print: impl FnOnce(&mut Screen)) -> String {
    let paper = SharedBuffer::default();
    let mut screen = Screen { out: SanitizingWriter::new(Box::new(paper.clone())), json: false, width };
    print(&mut screen);
    drop(screen);
    let bytes = paper.0.lock().expect("not poisoned").clone();
    let text = String::from_utf8(bytes).expect("utf-8");
    anstream::adapter::strip_str(&text).to_string()
}

fn rows() -> Vec<[String; 3]> {
    [["1", "日本語", "a long reason that goes on"], ["12", "x", ""]]
        .map(|row| row.map(str::to_owned))
        .to_vec()
}

#[test]
fn wide_letters_keep_columns_aligned() {
    let text = printed(None, |screen| {
        screen.table(["id", "name", "why"], &rows()).expect("printed");
    });
    insta::assert_snapshot!(text, @"
    id  name    why
    1   日本語  a long reason that goes on
    12  x
    ");
}

#[test]
fn lines_fit_a_narrow_terminal() {
    for width in 20..60 {
        let text = printed(Some(width), |screen| {
            screen.table(["id", "name", "why"], &rows()).expect("printed");
            screen.paragraph("  ", &"words and ".repeat(30)).expect("printed");
            screen.fact(QUIET, "label", "words beside it that go on and on").expect("printed");
        });
        for line in text.lines() {
            assert!(display_width(line) <= width, "{width}: {line:?}");
        }
    }
}

#[test]
fn fact_is_wrapped_beside_its_label() {
    let text = printed(Some(30), |screen| {
        screen.fact(QUIET, "disk", "262 kB in /home/someone/.claude-mem and more").expect("printed");
    });
    insta::assert_snapshot!(text, @"
    disk     262 kB in
             /home/someone/.claude-mem
             and more
    ");
}

#[test]
fn truncation_never_splits_a_letter() {
    assert_eq!(truncate_to_width("日本語", 6), "日本語");
    assert_eq!(truncate_to_width("日本語", 5), "日本…");
    assert_eq!(truncate_to_width("日本語", 4), "日…");
}

#[test]
fn control_characters_are_stripped_in_text_and_escaped_in_json() {
    let title = "a\u{1b}]52;c;x\u{7}b\u{9b}2J".to_owned();
    let table = printed(None, |screen| {
        screen.table(["title"], &[[title.clone()]]).unwrap();
        screen.paragraph("", &title).unwrap();
        screen.fact(TITLE, "is", &title).unwrap();
        writeln!(screen, "{title}").unwrap();
    });
    assert!(!table.contains(|c: char| c.is_control() && c != '\n'), "{table:?}");
    let json = printed(None, |screen| screen.json(&title).unwrap());
    assert!(!json.contains(|c: char| c.is_control() && c != '\n'), "{json:?}");
    assert_eq!(serde_json::from_str::<String>(&json).unwrap(), title);
}

#[test]
fn long_question_is_wrapped_between_words() {
    let question = format!("Permanently delete everything in /home/kim/{}?", "memory/".repeat(3));
    let shown = question_text(&question, "[y/N]");
    assert!(shown.lines().all(|line| line.chars().count() <= 60), "{shown}");
    assert_eq!(shown.replace('\n', " "), format!("{question} [y/N]"));
    assert_eq!(question_text("Adopt it?", "[Y/n]"), "Adopt it? [Y/n]");
}
