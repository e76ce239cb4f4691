//! Checks the allowed dependencies of each crate, read from the manifests that Cargo obeys.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use crate::cargo;

/// Libraries that only some of our crates may name: the store speaks SQLite, the team server PostgreSQL, these
/// two services are asynchronous, model providers and a team's server are reached over the network, the
/// two executables parse a command line.
const RESERVED: &[(&str, &[&str])] = &[
    ("rusqlite", &["claude-mem-store"]),
    ("tokio", &["claude-mem-worker", "claude-mem-team-server"]),
    ("axum", &["claude-mem-worker", "claude-mem-team-server"]),
    ("tokio-postgres", &["claude-mem-team-server"]),
    ("ureq", &["claude-mem-models", "claude-mem-sharing"]),
    ("clap", &["claude-mem", "claude-mem-team-server"]),
];

/// Crates for developers, which ship nothing.
const TOOLS: &[&str] = &["claude-mem-bench", "claude-mem-rig", "xtask"];

/// The crate whose code a hook runs, and what it must not link: each of these costs start-up time or
/// brings what a hook never does.
const HOOK_CRATE: &str = "claude-mem-capture";
const NOT_IN_HOOK: &[&str] = &[
    "axum",
    "clap",
    "claude-mem-team-server",
    "hyper",
    "indicatif",
    "regex",
    "rustls",
    "tokio",
    "tokio-postgres",
    "ureq",
];

#[derive(Debug, Deserialize)]
struct WorkspaceMetadata {
    packages: Vec<PackageManifest>,
}

#[derive(Debug, Deserialize)]
struct PackageManifest {
    name: String,
    dependencies: Vec<ManifestDependency>,
}

#[derive(Debug, Deserialize)]
struct ManifestDependency {
    name: String,
    /// `None` for an ordinary dependency.
    kind: Option<String>,
}

/// The executable that everybody installs, and the server that few run: it has an executable of its own.
const MAIN_CRATE: &str = "claude-mem";
const NOT_IN_MAIN: &[&str] =
    &["claude-mem-team-server", "deadpool-postgres", "tokio-postgres", "tokio-rustls"];

/// Dependencies that a crate must not have, one line each.
pub(super) fn forbidden_dependencies() -> anyhow::Result<Vec<String>> {
    let metadata = metadata()?;
    let mut wrong = reserved_dependencies(&metadata);
    let document = std::fs::read_to_string(cargo::root().join("ARCHITECTURE.md"))?;
    wrong.extend(upward_dependencies(&metadata, &documented_order(&document)));
    for (package, foreign) in [(HOOK_CRATE, NOT_IN_HOOK), (MAIN_CRATE, NOT_IN_MAIN)] {
        let linked = linked_crates(package)?;
        let linked = foreign.iter().filter(|name| linked.contains(**name));
        wrong.extend(linked.map(|name| format!("{package} links {name}")));
    }
    Ok(wrong)
}

fn metadata() -> anyhow::Result<WorkspaceMetadata> {
    let output =
        cargo::cargo().args(["metadata", "--no-deps", "--format-version", "1", "--locked"]).output()?;
    serde_json::from_slice(&output.stdout).context("`cargo metadata` printed something else")
}

fn reserved_dependencies(metadata: &WorkspaceMetadata) -> Vec<String> {
    let products = metadata.packages.iter().filter(|package| !TOOLS.contains(&package.name.as_str()));
    products
        .flat_map(|package| package.dependencies.iter().map(move |dependency| (package, dependency)))
        .filter(|(_, dependency)| dependency.kind.is_none())
        .filter_map(|(package, dependency)| {
            let (_, owners) = RESERVED.iter().find(|(name, _)| *name == dependency.name)?;
            let is_owner = owners.contains(&package.name.as_str());
            (!is_owner).then(|| {
                let owners = owners.join(", ");
                format!("{} depends on {}, which is for {owners}", package.name, dependency.name)
            })
        })
        .collect()
}

/// The crates in the order of the table in ARCHITECTURE.md, as their manifests name them.
fn documented_order(document: &str) -> Vec<String> {
    let first_cells = document.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    first_cells
        .map(|(name, _)| if name == MAIN_CRATE { name.to_owned() } else { format!("{MAIN_CRATE}-{name}") })
        .collect()
}

/// Crates that depend on a crate which does not stand above them in the table, and crates that it lacks.
fn upward_dependencies(metadata: &WorkspaceMetadata, order: &[String]) -> Vec<String> {
    let place = |name: &str| order.iter().position(|listed| listed == name);
    let mut wrong = Vec::new();
    for package in metadata.packages.iter().filter(|package| !TOOLS.contains(&package.name.as_str())) {
        let Some(own) = place(&package.name) else {
            wrong.push(format!("ARCHITECTURE.md does not list the crate {}", package.name));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|dependency| dependency.kind.is_none()) {
            if place(&dependency.name).is_some_and(|other| other >= own) {
                wrong.push(format!(
                    "{} depends on {}, which ARCHITECTURE.md lists below it",
                    package.name, dependency.name
                ));
            }
        }
    }
    wrong
}

/// Every crate that is linked with `package`.
fn linked_crates(package: &str) -> anyhow::Result<BTreeSet<String>> {
    let output = cargo::cargo()
        .args(["tree", "--locked", "--package", package, "--edges", "normal", "--prefix", "none"])
        .output()?;
    let tree = String::from_utf8(output.stdout)?;
    let names: BTreeSet<String> =
        tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    if !names.contains(package) {
        bail!("`cargo tree --package {package}` printed no tree");
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_library_elsewhere_is_reported() {
        let text = r#"{"packages": [
            {"name": "claude-mem-core", "dependencies": [
                {"name": "rusqlite", "kind": null},
                {"name": "clap", "kind": "dev"}]},
            {"name": "claude-mem-store", "dependencies": [{"name": "rusqlite", "kind": null}]},
            {"name": "xtask", "dependencies": [{"name": "clap", "kind": null}]}]}"#;
        let metadata = serde_json::from_str(text).unwrap();
        let wrong = reserved_dependencies(&metadata);
        assert_eq!(wrong, ["claude-mem-core depends on rusqlite, which is for claude-mem-store"]);
    }
    #[test]
    fn crate_below_its_dependent_is_reported() {
        let order =
            documented_order("| `core` | values | |\n| `store` | rows | |\n| `claude-mem` | all | |\n");
        assert_eq!(order, ["claude-mem-core", "claude-mem-store", "claude-mem"]);
        let text = r#"{"packages": [
            {"name": "claude-mem-core", "dependencies": [{"name": "claude-mem-store", "kind": null}]},
            {"name": "claude-mem-store", "dependencies": [{"name": "claude-mem-core", "kind": null}]},
            {"name": "claude-mem-new", "dependencies": []}]}"#;
        let metadata = serde_json::from_str(text).unwrap();
        assert_eq!(
            upward_dependencies(&metadata, &order),
            [
                "claude-mem-core depends on claude-mem-store, which ARCHITECTURE.md lists below it",
                "ARCHITECTURE.md does not list the crate claude-mem-new",
            ]
        );
    }
}
