use super::*;

#[test]
fn url_spellings_of_one_repository_are_equal() {
    for url in [
        "https://github.com/Me/app.git",
        "https://github.com/Me/app",
        "https://github.com/Me/app/",
        "https://GitHub.com:443/Me/app.git",
        "https://me:canary-token@github.com/Me/app.git",
        "https://canary-token@github.com/Me/app",
        "https://github.com/Me/app.git?access_token=canary",
        "git@github.com:Me/app.git",
        "github.com:Me/app",
        "ssh://git@github.com/Me/app.git",
        "ssh://git@github.com:22/Me/app.git",
        "ssh://git@ssh.github.com:443/Me/app.git",
        "git://github.com/Me/app.git",
        "  git@github.com:Me/app.git\n",
    ] {
        assert_eq!(normalise(url).as_deref(), Some("github.com/Me/app"), "{url}");
    }
}

#[test]
fn urls_are_normalised() {
    for (url, want) in [
        ("https://github.com/other/app", Some("github.com/other/app")),
        ("http://localhost:3000/me/app.git", Some("localhost:3000/me/app")),
        ("ssh://git@host:2222/me/app.git", Some("host/me/app")),
        ("https://host/~me/app.git", Some("host/~me/app")),
        ("ssh://git@[::1]:22/app", Some("[::1]/app")),
        ("/srv/git/app.git", Some("/srv/git/app")),
        ("file:///srv/git/app.git/", Some("/srv/git/app")),
        ("../app.git", None),
        ("./with:colon", None),
        ("https://github.com", None),
        ("https:///app", None),
        ("", None),
        (":", None),
    ] {
        assert_eq!(normalise(url).as_deref(), want, "{url}");
    }
}

#[test]
fn passwords_are_removed_from_urls() {
    for url in [
        "https://me:canary@host/a",
        "https://me:can@ary@host/a",
        "ssh://me:canary@host:2222/a",
        "me:canary@host:a/b",
    ] {
        let address = normalise(url).unwrap_or_default();
        assert!(!address.contains("canary") && !address.contains("ary@"), "{url} → {address}");
    }
}
