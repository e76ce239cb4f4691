use super::grid::ScreenGrid;

fn shown(bytes: &str) -> String {
    ScreenGrid::from_bytes(bytes.as_bytes(), 3, 10).text().trim_end().to_owned()
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
