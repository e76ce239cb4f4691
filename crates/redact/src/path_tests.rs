use super::path;
use super::samples::fill;

#[test]
fn only_credentials_of_paths_are_masked() {
    for (input, want) in [
        ("/src/main.rs", "/src/main.rs"),
        ("/src/token/key.rs", "/src/token/key.rs"),
        ("C:\\Users\\me\\secret.txt", "C:\\Users\\me\\secret.txt"),
        ("https://host.example/a?page=2", "https://host.example/a?page=2"),
        ("https://host.example/a?token=abc", "https://host.example/a?token=[redacted:secret]"),
        ("/a?x={alnum:32}&y=1", "/a?x=[redacted:query-value]"),
        ("https://me:hunter2@host.example/a", "https://me:[redacted:url-password]@host.example/a"),
        ("/tmp/<private>x</private>/y", "/tmp//y"),
    ] {
        assert_eq!(path(&fill(input).0), want, "input {input}");
    }
}
