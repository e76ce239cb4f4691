//! The viewer's files, out of the executable.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest as _, Sha256};

use super::bundle::{self, Odd};
use super::problem::Problem;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const DRAWING: &str = "image/svg+xml";

/// The page may run its own scripts and talk to us, and nothing else: no inline script but the one
/// that is named by its hash, no foreign address, no frame, no form that leaves.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let first = base64(&Sha256::digest(text(FIRST)));
    format!(
        "default-src 'none'; script-src 'self' 'sha256-{first}'; style-src 'self'; \
         img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
});

macro_rules! files {
    ($($name:literal is $kind:expr),+ $(,)?) => {
        &[$(($name, $kind, include_str!(concat!("../../../../../viewer/", $name)))),+]
    };
}

/// What the page is made of: name, type, content.
const FILES: &[(&str, &str, &str)] = files![
    "index.html" is HTML,
    "api.js" is SCRIPT,
    "app.js" is SCRIPT,
    "card.js" is SCRIPT,
    "charts.js" is SCRIPT,
    "dashboard.js" is SCRIPT,
    "details.js" is SCRIPT,
    "dom.js" is SCRIPT,
    "edit.js" is SCRIPT,
    "feed.js" is SCRIPT,
    "first.js" is SCRIPT,
    "kept.js" is SCRIPT,
    "keys.js" is SCRIPT,
    "list.js" is SCRIPT,
    "memory.js" is SCRIPT,
    "next.js" is SCRIPT,
    "order.js" is SCRIPT,
    "paint.js" is SCRIPT,
    "place.js" is SCRIPT,
    "search.js" is SCRIPT,
    "sessions.js" is SCRIPT,
    "settings.js" is SCRIPT,
    "stream.js" is SCRIPT,
    "table.js" is SCRIPT,
    "theme.js" is SCRIPT,
    "times.js" is SCRIPT,
    "toasts.js" is SCRIPT,
    "words.js" is SCRIPT,
    "writing.js" is SCRIPT,
    "style.css" is STYLE,
    "icon.svg" is DRAWING,
];

/// One version for all of them: they change together, with the executable.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for (_, _, content) in FILES {
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    crate::hook::key::hex(&hash.finalize()[..8])
});

/// Begun before anything is loaded: it stands in the page.
const FIRST: &str = "first.js";
const FIRST_TAG: &str = "<script src=\"/assets/first.js\"></script>";
/// Where the modules begin.
const ENTRY: &str = "app.js";

/// The page names its files below their version, so that a browser that has them need not ask.
static PAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let first = format!("<script>{}</script>", text(FIRST));
    let below = format!("\"/assets/{}/", *VERSION);
    let page = text("index.html").replace(FIRST_TAG, &first);
    page.replace("\"/assets/", &below).into_bytes()
});

static SCRIPTS: LazyLock<Result<String, Odd>> = LazyLock::new(|| bundle::join(ENTRY, module));

fn text(name: &str) -> &'static str {
    let found = FILES.iter().find(|(known, _, _)| *known == name);
    found.map_or("", |(_, _, content)| content)
}

fn module(name: &str) -> Option<&'static str> {
    let found = FILES
        .iter()
        .find(|(known, kind, _)| *known == name && *kind == SCRIPT);
    found.map(|(_, _, content)| *content)
}

/// Asked about each time: it says which version of the others is the right one.
const ASKED_ABOUT: HeaderValue = HeaderValue::from_static("no-cache");
/// Under its version a file is the same for ever.
const KEPT: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");

/// The page, or that the browser has it already.
pub(super) fn index(headers: &HeaderMap) -> Response {
    send(HTML, &PAGE, ASKED_ABOUT, headers)
}

/// A file of the page. One of an older version is not here any more; the newest stands in.
pub(super) fn asset(version: &str, name: &str, headers: &HeaderMap) -> Response {
    let (kind, content) = match (name, &*SCRIPTS) {
        (ENTRY, Ok(scripts)) => (SCRIPT, scripts.as_str()),
        (ENTRY, Err(odd)) => return Problem::ours(odd).into_response(),
        ("style.css", _) => (STYLE, text(name)),
        ("icon.svg", _) => (DRAWING, text(name)),
        _ => return Problem::not_there(format!("{name:?}")).into_response(),
    };
    let keep = if version == *VERSION {
        KEPT
    } else {
        ASKED_ABOUT
    };
    send(kind, content.as_bytes(), keep, headers)
}

fn send(
    kind: &'static str,
    content: &'static [u8],
    keep: HeaderValue,
    headers: &HeaderMap,
) -> Response {
    let mark = HeaderValue::from_str(&format!("\"{}\"", *VERSION));
    let mark = mark.unwrap_or(HeaderValue::from_static("\"0\""));
    let mut answer = if headers.get(header::IF_NONE_MATCH) == Some(&mark) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        content.into_response()
    };
    let kept = answer.headers_mut();
    kept.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    kept.insert(header::ETAG, mark);
    kept.insert(header::CACHE_CONTROL, keep);
    // Without one that reads, the strictest of all is set for it.
    if let Ok(policy) = HeaderValue::from_str(&POLICY) {
        kept.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

/// As a policy spells a hash.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let at = |n: usize| u32::from(part.get(n).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            let is_there = digit as usize <= part.len();
            text.push(if is_there {
                DIGITS[value as usize] as char
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_viewer_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../viewer");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(FILES.iter().any(|(known, _, _)| *known == name), "{name}");
        }
    }

    #[test]
    fn a_file_that_the_browser_has_is_not_sent_again() {
        let first = index(&HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(first.headers()[header::CACHE_CONTROL], ASKED_ABOUT);
        let mut has = HeaderMap::new();
        has.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(index(&has).status(), StatusCode::NOT_MODIFIED);
        let file = asset(&VERSION, "app.js", &HeaderMap::new());
        assert_eq!(file.headers()[header::CACHE_CONTROL], KEPT);
        for nothing in ["../app.js", "index.html", ""] {
            assert_eq!(
                asset(&VERSION, nothing, &has).status(),
                StatusCode::NOT_FOUND,
                "{nothing}"
            );
        }
    }

    #[test]
    fn a_page_that_is_open_during_an_update_still_gets_its_files() {
        let file = asset("0123456789abcdef", "app.js", &HeaderMap::new());
        assert_eq!(file.status(), StatusCode::OK);
        assert_eq!(file.headers()[header::CACHE_CONTROL], ASKED_ABOUT);
    }

    #[test]
    fn the_page_names_all_its_files_by_their_version() {
        let page = std::str::from_utf8(&PAGE).unwrap();
        let named = page.matches("\"/assets/").count();
        assert_eq!(named, 3);
        let below = format!("\"/assets/{}/", *VERSION);
        assert_eq!(page.matches(&below).count(), named);
    }

    #[test]
    fn every_module_is_in_the_one_script() {
        let scripts = SCRIPTS.as_ref().unwrap();
        let modules = FILES.iter().filter(|(_, kind, _)| *kind == SCRIPT);
        for (name, _, _) in modules.filter(|(name, _, _)| *name != FIRST) {
            assert!(scripts.contains(&format!("// {name}\n")), "{name}");
        }
    }

    #[test]
    fn the_page_is_small_and_runs_nothing_inline_but_what_its_policy_names() {
        let scripts = SCRIPTS.as_ref().unwrap();
        let bytes = PAGE.len() + scripts.len() + text("style.css").len() + text("icon.svg").len();
        assert!(bytes <= 150 << 10, "{bytes}");
        let page = std::str::from_utf8(&PAGE).unwrap();
        let inline: Vec<_> = page.split("<script>").skip(1).collect();
        let [first] = inline[..] else {
            panic!("{} inline scripts", inline.len());
        };
        let (first, _) = first.split_once("</script>").unwrap();
        assert_eq!(first, text(FIRST));
        assert!(POLICY.contains(&format!("'sha256-{}'", base64(&Sha256::digest(first)))));
        assert!(!POLICY.contains("unsafe"));
        let page = text("index.html");
        assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains("onclick"));
    }

    #[test]
    fn base64_is_as_others_spell_it() {
        for (bytes, spelt) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
            ("\u{ff}\u{fb}", "w7/Duw=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), spelt, "{bytes:?}");
        }
    }
}
