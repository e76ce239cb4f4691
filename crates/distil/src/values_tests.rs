use super::*;

#[test]
fn assignments_are_read_in_code_and_configuration() {
    for (path, line, want) in [
        ("a.py", "MAX_ATTEMPTS = 7  # measured", Some(("MAX_ATTEMPTS", "7"))),
        ("a.rs", "pub const LEASE_SECONDS: i64 = 120;", Some(("LEASE_SECONDS", "120"))),
        ("a.ts", "  timeout: 30_000,", Some(("timeout", "30_000"))),
        ("a.json", "  \"port\": 8080,", Some(("port", "8080"))),
        ("a.yml", "  - replicas: 3", Some(("replicas", "3"))),
        ("a.h", "#define MAX_LEN 64", Some(("MAX_LEN", "64"))),
        ("a.go", "\tretries := 3", Some(("retries", "3"))),
        ("a.py", "if x == 3:", None),
        ("a.ts", "const f = (x) => x", Some(("f", "(x) => x"))),
        ("a.py", "f(x=3)", None),
        ("a.rs", "// x = 3", None),
    ] {
        assert_eq!(assignment(line, Syntax::for_path(path)), want, "{line}");
    }
}

#[test]
fn a_long_value_is_told_by_what_differs() {
    for (before, after, want) in [
        ("10", "7", Some(("10", "7"))),
        (
            "int(os.environ.get('RETRY_MAX_ATTEMPTS', 5))",
            "int(os.environ.get('RETRY_MAX_ATTEMPTS', 7))",
            Some(("5", "7")),
        ),
        ("\"a\"", "\"b\"", Some(("\"a\"", "\"b\""))),
        ("foo(bar)", "compute(the, whole, thing, anew, with, more, arguments)", None),
        ("map[string]Item{}", "map[string]int{}", None),
        ("7", "7", None),
    ] {
        let want = want.map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(difference(before, after, Syntax::Python), want, "{before} → {after}");
    }
}
