use super::grid::ScreenGrid;

fn shown(bytes: &str) -> String {
    let mut grid = ScreenGrid::new(3, 10);
    grid.write(bytes.as_bytes());
    grid.text().trim_end().to_owned()
}

#[test]
fn screen_shows_what_a_terminal_would() {
    for (bytes, want) in [
        ("one\r\ntwo", "one\ntwo"),
        ("runs\x1b[2Ged", "reds"),
        ("\x1b[2;3Hhere", "\n  here"),
        ("\x1b[H\x1b[2Bthree\x1b[2Aone\x1b[5D\x1b[1B2", "     one\n   2\nthree"),
        ("\x1b[38;5;246mgrey\x1b[39m \x1b[1Cplain", "grey  plai\nn"),
        ("\x1b]0;a title\x07text\x1b[?25l", "text"),
        ("gone\x1b[2J\x1b[Hback", "back"),
        ("gone\x1b[?1049h\x1b[Hback", "back"),
        ("keep this\x1b[5G\x1b[K", "keep"),
        ("abc\x08\x08X", "aXc"),
        ("1\r\n2\r\n3\r\n4", "2\n3\n4"),
        ("\x1b[99;99Hx", "\n\n         x"),
        ("0123456789\x1b[1m.", "0123456789\n."),
    ] {
        assert_eq!(shown(bytes), want, "{bytes:?}");
    }
}

#[test]
fn bytes_may_come_one_by_one() {
    let all = "\x1b[2;3H\x1b]0;a title\x07❯ héy\x1b[38;5;246m\x1b[5D\x1b[K";
    let mut grid = ScreenGrid::new(3, 10);
    all.bytes().for_each(|byte| grid.write(&[byte]));
    assert_eq!(grid.text().trim_end(), shown(all));
    assert_eq!(shown("\x1b[2;3H❯ héy"), "\n  ❯ héy");
}
