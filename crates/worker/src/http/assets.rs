//! The viewer's assets, embedded in the executable.
//!
//! The page names its assets under a version, the hash of all of them, so that a browser can cache
//! them forever. The modules are bundled into one script at build time, and the first script is
//! inlined in the page.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::problem::Problem;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// The Content Security Policy of the page: only our scripts and requests to us. No inline script
/// but the one named by its hash, no other origin, no frames, no forms.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let first = STANDARD.encode(Sha256::digest(FIRST_SCRIPT));
    format!(
        "default-src 'none'; script-src 'self' 'sha256-{first}'; style-src 'self'; \
         img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
});

macro_rules! viewer_file {
    ($name:literal) => {
        include_str!(concat!("../../../../viewer/", $name))
    };
}

const INDEX: &str = viewer_file!("index.html");
/// Without comments and needless blanks, made by the build script.
const STYLESHEET: &str = include_str!(concat!(env!("OUT_DIR"), "/style.css"));
const ICON: &str = viewer_file!("icon.svg");
/// Inlined in the page, so that it runs before anything else is loaded; without comments.
const FIRST_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/first.js"));
const FIRST_SCRIPT_TAG: &str = "<script src=\"/assets/first.js\"></script>";
/// All other modules as one script, made by the build script.
const SCRIPTS: &str = include_str!(concat!(env!("OUT_DIR"), "/app.js"));

/// One version for all files: they change together, with the executable.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for content in [INDEX, FIRST_SCRIPT, SCRIPTS, STYLESHEET, ICON] {
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    claude_mem_core::event_key::hex(&hash.finalize()[..8])
});

/// The page, with its assets under their version, so that a browser need not revalidate them.
static PAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let first = format!("<script>{FIRST_SCRIPT}</script>");
    let below = format!("\"/assets/{}/", *VERSION);
    let page = INDEX.replace(FIRST_SCRIPT_TAG, &first);
    page.replace("\"/assets/", &below).into_bytes()
});

/// Revalidated on each load: the page names the current version of the other files.
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
/// Under its version a file never changes.
const IMMUTABLE: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");

/// The page, or 304 if the browser has it.
pub(super) fn index(headers: &HeaderMap) -> Response {
    asset_response(HTML, &PAGE, REVALIDATE, headers)
}

/// An asset. Old versions are not kept, so an open page gets the current file after an update.
pub(super) fn asset(version: &str, name: &str, headers: &HeaderMap) -> Response {
    let (kind, content) = match name {
        "app.js" => (SCRIPT, SCRIPTS),
        "style.css" => (STYLE, STYLESHEET),
        "icon.svg" => (SVG, ICON),
        _ => return Problem::not_found(format!("{name:?}")).into_response(),
    };
    let keep = if version == *VERSION { IMMUTABLE } else { REVALIDATE };
    asset_response(kind, content.as_bytes(), keep, headers)
}

fn asset_response(
    kind: &'static str,
    content: &'static [u8],
    keep: HeaderValue,
    headers: &HeaderMap,
) -> Response {
    let mark =
        HeaderValue::from_str(&format!("\"{}\"", *VERSION)).unwrap_or(HeaderValue::from_static("\"0\""));
    let mut answer = if headers.get(header::IF_NONE_MATCH) == Some(&mark) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        content.into_response()
    };
    let kept = answer.headers_mut();
    kept.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    kept.insert(header::ETAG, mark);
    kept.insert(header::CACHE_CONTROL, keep);
    // If the policy is not a valid header, the strictest one is set later.
    if let Ok(policy) = HeaderValue::from_str(&POLICY) {
        kept.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_viewer_file_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../viewer");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_embedded = ["index.html", "first.js", "style.css", "icon.svg"].contains(&name.as_str());
            assert!(is_embedded || SCRIPTS.contains(&format!("// {name}\n")), "{name}");
        }
    }

    #[test]
    fn cached_file_is_not_sent_again() {
        let first = index(&HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(first.headers()[header::CACHE_CONTROL], REVALIDATE);
        let mut has = HeaderMap::new();
        has.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(index(&has).status(), StatusCode::NOT_MODIFIED);
        let file = asset(&VERSION, "app.js", &HeaderMap::new());
        assert_eq!(file.headers()[header::CACHE_CONTROL], IMMUTABLE);
        for nothing in ["../app.js", "index.html", ""] {
            assert_eq!(asset(&VERSION, nothing, &has).status(), StatusCode::NOT_FOUND, "{nothing}");
        }
    }

    #[test]
    fn old_version_gets_current_files() {
        let file = asset("0123456789abcdef", "app.js", &HeaderMap::new());
        assert_eq!(file.status(), StatusCode::OK);
        assert_eq!(file.headers()[header::CACHE_CONTROL], REVALIDATE);
    }

    #[test]
    fn page_names_assets_by_version() {
        let page = std::str::from_utf8(&PAGE).unwrap();
        let named = page.matches("\"/assets/").count();
        assert_eq!(named, 3);
        let below = format!("\"/assets/{}/", *VERSION);
        assert_eq!(page.matches(&below).count(), named);
    }

    #[test]
    fn page_is_small_and_inlines_only_the_hashed_script() {
        let bytes = PAGE.len() + SCRIPTS.len() + STYLESHEET.len() + ICON.len();
        assert!(bytes <= 256 << 10, "{bytes}");
        let page = std::str::from_utf8(&PAGE).unwrap();
        let inline: Vec<_> = page.split("<script>").skip(1).collect();
        let [first] = inline[..] else {
            panic!("{} inline scripts", inline.len());
        };
        let (first, _) = first.split_once("</script>").unwrap();
        assert_eq!(first, FIRST_SCRIPT);
        assert!(POLICY.contains(&format!("'sha256-{}'", STANDARD.encode(Sha256::digest(first)))));
        assert!(!POLICY.contains("unsafe"));
        let page = INDEX;
        assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains("onclick"));
    }
}
