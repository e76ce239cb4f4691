//! The viewer's files, out of the executable.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest as _, Sha256};

use super::problem::Problem;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const DRAWING: &str = "image/svg+xml";

/// The page may run its own scripts and talk to us, and nothing else: no inline script, no
/// foreign address, no frame, no form that leaves.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

macro_rules! files {
    ($($name:literal is $kind:expr),+ $(,)?) => {
        &[$(($name, $kind, include_bytes!(concat!("../../../../../viewer/", $name)))),+]
    };
}

/// Name, type, content.
pub(super) const FILES: &[(&str, &str, &[u8])] = files![
    "index.html" is HTML,
    "api.js" is SCRIPT,
    "app.js" is SCRIPT,
    "card.js" is SCRIPT,
    "charts.js" is SCRIPT,
    "dashboard.js" is SCRIPT,
    "dom.js" is SCRIPT,
    "edit.js" is SCRIPT,
    "feed.js" is SCRIPT,
    "keys.js" is SCRIPT,
    "list.js" is SCRIPT,
    "next.js" is SCRIPT,
    "search.js" is SCRIPT,
    "sessions.js" is SCRIPT,
    "settings.js" is SCRIPT,
    "stream.js" is SCRIPT,
    "theme.js" is SCRIPT,
    "words.js" is SCRIPT,
    "style.css" is STYLE,
    "icon.svg" is DRAWING,
];

/// One mark for all of them: they change together, with the executable.
static MARK: LazyLock<HeaderValue> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for (_, _, content) in FILES {
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    let mark = format!("\"{}\"", crate::hook::key::hex(&hash.finalize()[..8]));
    HeaderValue::from_str(&mark).unwrap_or(HeaderValue::from_static("\"0\""))
});

/// The file, or that the browser has it already.
pub(super) fn answer(name: &str, headers: &HeaderMap) -> Response {
    let Some((_, kind, content)) = FILES.iter().find(|(known, _, _)| *known == name) else {
        return Problem::not_there(format!("{name:?}")).into_response();
    };
    let has_it = headers.get(header::IF_NONE_MATCH) == Some(&*MARK);
    let mut answer = if has_it {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        (*content).into_response()
    };
    let kept = answer.headers_mut();
    kept.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    kept.insert(header::ETAG, MARK.clone());
    // Kept, but asked about: after an update the page must not be of two versions.
    kept.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    kept.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(POLICY),
    );
    answer
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
        let first = answer("app.js", &HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(
            answer("app.js", &headers).status(),
            StatusCode::NOT_MODIFIED
        );
        assert_eq!(
            answer("../app.js", &headers).status(),
            StatusCode::NOT_FOUND
        );
    }

    #[test]
    fn the_page_is_small_and_runs_nothing_inline() {
        let bytes: usize = FILES.iter().map(|(_, _, content)| content.len()).sum();
        assert!(bytes <= 150 << 10, "{bytes}");
        assert!(!POLICY.contains("unsafe"));
        let page = String::from_utf8_lossy(FILES[0].2);
        assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains("onclick"));
    }
}
