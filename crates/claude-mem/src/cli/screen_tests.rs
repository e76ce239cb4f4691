use super::*;
use std::sync::{Arc, Mutex};

/// What was printed, for the test to look at.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn printed(width: Option<usize>, print: impl FnOnce(&mut Screen)) -> String {
    let paper = Paper::default();
    let mut screen = Screen {
        out: Terminal::new(Box::new(paper.clone())),
        json: false,
        width,
    };
    print(&mut screen);
    drop(screen);
    let bytes = paper.0.lock().expect("not poisoned").clone();
    let text = String::from_utf8(bytes).expect("utf-8");
    anstream::adapter::strip_str(&text).to_string()
}

fn rows() -> Vec<[String; 3]> {
    [
        ["1", "日本語", "a long reason that goes on"],
        ["12", "x", ""],
    ]
    .map(|row| row.map(str::to_owned))
    .to_vec()
}

#[test]
fn columns_line_up_also_under_wide_letters() {
    let text = printed(None, |screen| {
        screen
            .table(["id", "name", "why"], &rows())
            .expect("printed");
    });
    insta::assert_snapshot!(text, @"
    id  name    why
    1   日本語  a long reason that goes on
    12  x
    ");
}

#[test]
fn a_line_never_passes_the_edge_of_a_narrow_terminal() {
    for width in 20..60 {
        let text = printed(Some(width), |screen| {
            screen
                .table(["id", "name", "why"], &rows())
                .expect("printed");
            screen
                .paragraph("  ", &"words and ".repeat(30))
                .expect("printed");
            screen
                .fact(QUIET, "label", "words beside it that go on and on")
                .expect("printed");
        });
        for line in text.lines() {
            assert!(columns_of(line) <= width, "{width}: {line:?}");
        }
    }
}

#[test]
fn a_fact_goes_on_beside_its_label() {
    let text = printed(Some(30), |screen| {
        screen
            .fact(
                QUIET,
                "disk",
                "262 kB in /home/someone/.claude-mem and more",
            )
            .expect("printed");
    });
    insta::assert_snapshot!(text, @"
    disk     262 kB in
             /home/someone/.claude-mem
             and more
    ");
}

#[test]
fn a_cut_never_splits_a_letter() {
    assert_eq!(cut("日本語", 6), "日本語");
    assert_eq!(cut("日本語", 5), "日本…");
    assert_eq!(cut("日本語", 4), "日…");
}

#[test]
fn stored_text_is_shown_without_its_commands_and_told_whole_to_programs() {
    let title = "a\u{1b}]52;c;x\u{7}b\u{9b}2J".to_owned();
    let table = printed(None, |screen| {
        screen.table(["title"], &[[title.clone()]]).unwrap();
        screen.paragraph("", &title).unwrap();
        screen.fact(TITLE, "is", &title).unwrap();
        writeln!(screen, "{title}").unwrap();
    });
    assert!(
        !table.contains(|c: char| c.is_control() && c != '\n'),
        "{table:?}"
    );
    let json = printed(None, |screen| screen.json(&title).unwrap());
    assert!(
        !json.contains(|c: char| c.is_control() && c != '\n'),
        "{json:?}"
    );
    assert_eq!(serde_json::from_str::<String>(&json).unwrap(), title);
}
