use proptest::prelude::*;

use super::*;

#[test]
fn stars_match_as_documented() {
    for (pattern, text, fits) in [
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("", "", true),
        ("*", "anything", true),
        ("*", "a/b", false),
        ("**", "a/b/c", true),
        ("a*c", "abbbc", true),
        ("a*c", "ab/c", false),
        ("a**c", "ab/c", true),
        ("*.pem", "key.pem", true),
        ("*.pem", "dir/key.pem", false),
        ("**/*.pem", "dir/sub/key.pem", true),
        ("**/*.pem", "key.pem", true),
        ("**/key", "a/monkey", false),
        ("**/key", "a/b/key", true),
        ("/home/*/work/**", "/home/me/work/a/b", true),
        ("/home/*/work/**", "/home/me/play/a/b", false),
        ("a?c", "abc", true),
        ("a?c", "aéc", true),
        ("a?c", "a/c", false),
        ("a?c", "ac", false),
        ("mcp__claude-mem__*", "mcp__claude-mem__search", true),
        ("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ("a*bc*d", "axbcxbcd", true),
    ] {
        assert_eq!(matches(pattern, text), fits, "{pattern:?} on {text:?}");
    }
}

#[test]
fn path_pattern_works_as_in_ignore_file() {
    for (pattern, path, fits) in [
        ("secrets", "/home/me/app/secrets/key.txt", true),
        ("secrets", "/home/me/app/secrets.txt", false),
        ("secrets/", "/home/me/app/secrets/key.txt", true),
        ("*.pem", "/home/me/app/tls/a.pem", true),
        ("tls/*.pem", "/home/me/app/tls/a.pem", true),
        ("app/tls", "/home/me/app/tls/a.pem", true),
        ("/home/me/app", "/home/me/app/tls/a.pem", true),
        ("/app", "/home/me/app/tls/a.pem", false),
        ("~/app/**", "/home/me/app/tls/a.pem", true),
        ("~/other", "/home/me/app", false),
        ("app", "app", true),
        ("", "/home/me", false),
        ("/", "/home/me", false),
    ] {
        assert_eq!(matches_path(pattern, path, "/home/me"), fits, "{pattern:?} on {path:?}");
    }
}

proptest! {
    /// The naive definition, with exponential run time.
    #[test]
    fn matching_agrees_with_naive_definition(pattern in "[ab*?/]{0,7}", text in "[ab/é]{0,7}") {
        fn slow(pattern: &[char], text: &[char], start: bool) -> bool {
            match pattern {
                [] => text.is_empty(),
                ['*', '*', rest @ ..] => {
                    let (rest, whole) = match rest {
                        ['/', after @ ..] if start => (after, true),
                        rest => (rest, false),
                    };
                    (0..=text.len()).any(|n| {
                        let starts = if n == 0 { start } else { text[n - 1] == '/' };
                        (starts || !whole) && slow(rest, &text[n..], starts)
                    })
                }
                ['*', rest @ ..] => {
                    let reach = text.iter().take_while(|c| **c != '/').count();
                    (0..=reach).any(|n| slow(rest, &text[n..], n == 0 && start))
                }
                ['?', rest @ ..] => text.first().is_some_and(|c| *c != '/') && slow(rest, &text[1..], false),
                [c, rest @ ..] => text.first() == Some(c) && slow(rest, &text[1..], *c == '/'),
            }
        }
        let (p, t): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
        prop_assert_eq!(matches(&pattern, &text), slow(&p, &t, true));
    }
}
