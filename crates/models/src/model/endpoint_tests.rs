use super::*;

#[test]
fn plain_http_needs_loopback_or_permission() {
    for (url, plain, works) in [
        ("https://api.example.com", false, true),
        ("HTTPS://api.example.com/v1/", false, true),
        ("http://localhost:11434/v1", false, true),
        ("http://127.0.0.1:1234", false, true),
        ("http://127.9.9.9", false, true),
        ("http://[::1]:8000/v1", false, true),
        ("http://192.168.1.5:11434/v1", false, false),
        ("http://192.168.1.5:11434/v1", true, true),
        ("http://localhost.example.com", false, false),
        ("http://example.com@localhost", false, false),
        ("https://user:pass@api.example.com", false, false),
        ("https://api.example.com/?key=1", false, false),
        ("ftp://api.example.com", true, false),
        ("file:///etc/passwd", true, false),
        ("api.example.com", false, false),
        ("", false, false),
        ("https://", false, false),
    ] {
        assert_eq!(ModelEndpoint::new(url, plain).is_ok(), works, "{url}");
    }
}

#[test]
fn base_may_contain_a_prefix_of_the_path() {
    for (base, path, want) in [
        ("https://h", "/v1/messages", "https://h/v1/messages"),
        ("https://h/", "/v1/messages", "https://h/v1/messages"),
        ("https://h/v1", "/v1/messages", "https://h/v1/messages"),
        ("https://h/v1/messages", "/v1/messages", "https://h/v1/messages"),
        ("https://h/proxy/v1/", "/v1/messages", "https://h/proxy/v1/messages"),
        ("http://localhost:1/v1", "/chat/completions", "http://localhost:1/v1/chat/completions"),
        (
            "http://localhost:1/v1/chat/completions",
            "/chat/completions",
            "http://localhost:1/v1/chat/completions",
        ),
    ] {
        assert_eq!(ModelEndpoint::new(base, false).unwrap().join(path), want);
    }
}
