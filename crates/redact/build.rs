//! Turns data files into tables before the crate is compiled, so that no process has to.

#[path = "build/redact_rules.rs"]
mod redact_rules;

fn main() {
    let rules = "src/rules.txt";
    let commands = "src/commands.txt";
    let sources = "src/sources.txt";
    println!("cargo::rerun-if-changed={rules}");
    println!("cargo::rerun-if-changed={commands}");
    println!("cargo::rerun-if-changed={sources}");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/redact_rules.rs");
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let tables = redact_rules::tables(&read(rules), &read(commands), &read(sources))
        .unwrap_or_else(|e| panic!("{rules}: {e}"));
    let out = std::env::var("OUT_DIR").unwrap_or_else(|e| panic!("OUT_DIR: {e}"));
    let path = std::path::Path::new(&out).join("redact_rules.rs");
    std::fs::write(&path, tables).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}
