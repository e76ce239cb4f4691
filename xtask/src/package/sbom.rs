//! The software bill of materials (CycloneDX): every crate that is linked into one of the executables, with its
//! licence and checksum, and the model that is built in.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::{Value, json};

use super::release::{COMMAND, LICENSE, PACKAGE_NAME, VERSION};
use crate::cargo;

#[derive(Debug, Deserialize)]
struct CargoMetadata {
    packages: Vec<CargoPackage>,
    resolve: DependencyGraph,
}

#[derive(Debug, Deserialize)]
struct CargoPackage {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

#[derive(Debug, Deserialize)]
struct DependencyGraph {
    nodes: Vec<DependencyNode>,
}

#[derive(Debug, Deserialize)]
struct DependencyNode {
    id: String,
    deps: Vec<DependencyEdge>,
}

#[derive(Debug, Deserialize)]
struct DependencyEdge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Debug, Deserialize)]
struct EdgeKind {
    /// `None` for an ordinary dependency.
    kind: Option<String>,
}

pub(super) fn file_name() -> String {
    format!("{PACKAGE_NAME}-{VERSION}.cdx.json")
}

/// The bill of materials, as JSON.
pub(super) fn bill_of_materials() -> anyhow::Result<String> {
    let output = cargo::cargo().args(["metadata", "--locked", "--format-version", "1"]).output()?;
    let metadata =
        serde_json::from_slice(&output.stdout).context("`cargo metadata` printed something else")?;
    let lock = std::fs::read_to_string(cargo::root().join("Cargo.lock"))?;
    Ok(format!("{}\n", serde_json::to_string_pretty(&describe(&metadata, &checksums(&lock)))?))
}

fn describe(metadata: &CargoMetadata, checksums: &BTreeMap<(String, String), String>) -> Value {
    let linked = linked_packages(metadata);
    let mut components: Vec<Value> = metadata
        .packages
        .iter()
        .filter(|package| linked.contains(package.id.as_str()) && package.source.is_some())
        .map(|package| component(package, checksums))
        .collect();
    components.push(json!({
        "type": "machine-learning-model",
        "name": "all-MiniLM-L6-v2",
        "version": "int8g64",
        "licenses": [{ "expression": "Apache-2.0" }],
    }));
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "name": COMMAND,
                "version": VERSION,
                "licenses": [{ "expression": LICENSE }],
            },
        },
        "components": components,
    })
}

fn component(package: &CargoPackage, checksums: &BTreeMap<(String, String), String>) -> Value {
    let CargoPackage { name, version, .. } = package;
    let mut component = json!({
        "type": "library",
        "name": name,
        "version": version,
        "purl": format!("pkg:cargo/{name}@{version}"),
    });
    if let Some(license) = &package.license {
        // Some manifests separate alternatives in the old way.
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    if let Some(sum) = checksums.get(&(name.clone(), version.clone())) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

/// The packages of the executables.
const ROOTS: [&str; 2] = [COMMAND, "claude-mem-team-server"];

/// The ids of the packages that the executables link.
fn linked_packages(metadata: &CargoMetadata) -> BTreeSet<&str> {
    let nodes: BTreeMap<&str, &DependencyNode> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let roots = metadata.packages.iter().filter(|package| ROOTS.contains(&package.name.as_str()));
    let mut waiting: Vec<&str> = roots.map(|package| package.id.as_str()).collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if linked.insert(id)
            && let Some(node) = nodes.get(id)
        {
            let normal = |edge: &&DependencyEdge| edge.dep_kinds.iter().any(|kind| kind.kind.is_none());
            waiting.extend(node.deps.iter().filter(normal).map(|edge| edge.pkg.as_str()));
        }
    }
    linked
}

/// The checksums of `Cargo.lock`, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let mut found = BTreeMap::new();
    for entry in lock.split("[[package]]") {
        let field = |name: &str| {
            let line = entry.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
            line.map(|value| value.trim_matches('"').to_owned())
        };
        if let (Some(name), Some(version), Some(sum)) = (field("name"), field("version"), field("checksum")) {
            found.insert((name, version), sum);
        }
    }
    found
}

#[cfg(test)]
#[path = "sbom_tests.rs"]
mod tests;
