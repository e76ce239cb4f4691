//! Bundles the viewer's modules before the crate is compiled, so that the worker embeds one script.

use std::path::Path;

#[path = "build/bundle.rs"]
mod bundle;

const VIEWER: &str = "../../viewer";

fn main() {
    println!("cargo::rerun-if-changed={VIEWER}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/bundle.rs");
    let read = |name: &str| std::fs::read_to_string(Path::new(VIEWER).join(name)).ok();
    let script = bundle::join("app.js", read).unwrap_or_else(|e| panic!("{VIEWER}: {e:?}"));
    let out = std::env::var("OUT_DIR").unwrap_or_else(|e| panic!("OUT_DIR: {e}"));
    let style = read("style.css").unwrap_or_else(|| panic!("{VIEWER}/style.css cannot be read"));
    let first = read("first.js").unwrap_or_else(|| panic!("{VIEWER}/first.js cannot be read"));
    let stripped =
        [("first.js", bundle::strip_lines(&first)), ("style.css", bundle::strip_stylesheet(&style))];
    for (name, text) in stripped.into_iter().chain([("app.js", script)]) {
        let path = Path::new(&out).join(name);
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}
