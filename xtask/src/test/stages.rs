//! The stages of `cargo xtask test` in their order: prerequisites first, then cheap checks before slow ones.

use super::StageOutcome;
use super::scripts::NodeScripts;
use super::{browser, claims, doc_references, layers, modules, needs, threat_model};
use crate::cargo::{self, build_dist, is_available, run};
use rig::skip::SKIPPED_TESTS_VARIABLE;

/// One stage: its name for `--only` and `--skip`, a description, and the function that runs it.
#[derive(Debug)]
pub(super) struct TestStage {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn() -> anyhow::Result<StageOutcome>,
}

pub(super) static STAGES: &[TestStage] = &[
    TestStage {
        name: "needs",
        about: "install programs and clients that tests use",
        run: || Ok(needs::install()),
    },
    TestStage { name: "fmt", about: "the code is formatted", run: fmt },
    TestStage {
        name: "layers",
        about: "crates depend on what is theirs, files form no cycles, names stand in their files, documents name what exists",
        run: layers,
    },
    TestStage { name: "clippy", about: "no warnings in any target", run: clippy },
    TestStage { name: "tests", about: "unit, program, fault (short form) and abuse tests", run: tests },
    TestStage { name: "browser", about: "the viewer in a real browser", run: browser::run_all },
    TestStage { name: "mcp", about: "the official MCP client talks to our server", run: mcp },
    TestStage { name: "doctests", about: "examples in the documentation compile and pass", run: doctests },
    TestStage { name: "docs", about: "the documentation builds without warnings", run: docs },
    TestStage { name: "deny", about: "licences, advisories and sources of dependencies", run: deny },
    TestStage {
        name: "dist",
        about: "the shipped executable: size, and the program tests with it",
        run: dist,
    },
];

/// Environment variable with the path of the executable under test. If unset, tests use the one that
/// cargo built with them.
const EXE_VARIABLE: &str = "CLAUDE_MEM_TEST_EXE";

/// Seed of the property tests, so that every machine tries the same cases. Unset it to find new ones.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1769853600");

fn layers() -> anyhow::Result<StageOutcome> {
    let faults = [
        layers::forbidden_dependencies()?,
        modules::module_cycles()?,
        claims::broken_claims()?,
        doc_references::broken_references()?,
        threat_model::broken_rows()?,
    ]
    .concat();
    anyhow::ensure!(faults.is_empty(), "the layering or a claim is broken:\n  {}", faults.join("\n  "));
    Ok(StageOutcome::Passed)
}

fn fmt() -> anyhow::Result<StageOutcome> {
    run(cargo::cargo().args(["fmt", "--all", "--check"]))?;
    Ok(StageOutcome::Passed)
}

fn clippy() -> anyhow::Result<StageOutcome> {
    run(cargo::cargo().args([
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]))?;
    Ok(StageOutcome::Passed)
}

fn tests() -> anyhow::Result<StageOutcome> {
    let mut command = cargo::cargo();
    if is_available(cargo::cargo().arg("nextest")) {
        command.args(["nextest", "run", "--no-fail-fast"]);
    } else {
        println!("cargo-nextest is not installed; using cargo test");
        command.args(["test", "--no-fail-fast", "--lib", "--bins", "--tests"]);
    }
    let list = cargo::target_dir()?.join("skipped-tests");
    match std::fs::remove_file(&list) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    command.args(["--locked", "--workspace"]).env(SEED.0, SEED.1).env(SKIPPED_TESTS_VARIABLE, &list);
    let ran = run(&mut command);
    // To the runner these have passed.
    match std::fs::read_to_string(&list) {
        Ok(skipped) => print!("tests that this machine cannot run:\n{skipped}"),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => println!("no test was skipped"),
        Err(e) => return Err(e.into()),
    }
    ran.map(|()| StageOutcome::Passed)
}

fn mcp() -> anyhow::Result<StageOutcome> {
    let scripts = match NodeScripts::prepare("tests/mcp") {
        Ok(scripts) => scripts,
        Err(missing) => return Ok(StageOutcome::Skipped(format!("{missing:#}"))),
    };
    cargo::build_debug()?;
    let exe = cargo::target_dir()?.join("debug/claude-mem");
    scripts.run_all(&[(EXE_VARIABLE, &exe)])?;
    Ok(StageOutcome::Passed)
}

fn doctests() -> anyhow::Result<StageOutcome> {
    run(cargo::cargo().args(["test", "--locked", "--workspace", "--doc"]))?;
    Ok(StageOutcome::Passed)
}

fn docs() -> anyhow::Result<StageOutcome> {
    run(cargo::cargo()
        .args(["doc", "--locked", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "--deny warnings"))?;
    Ok(StageOutcome::Passed)
}

fn deny() -> anyhow::Result<StageOutcome> {
    if !is_available(cargo::cargo().arg("deny")) {
        return Ok(StageOutcome::Skipped("cargo-deny is not installed".to_owned()));
    }
    run(cargo::cargo().args(["deny", "--locked", "check", "licenses", "bans", "sources"]))?;
    // The advisory database comes over the network, which a test must not depend on.
    let advisories = cargo::cargo().args(["deny", "--locked", "check", "advisories"]).output()?;
    let said = String::from_utf8_lossy(&advisories.stderr);
    print!("{said}");
    if advisories.status.success() {
        Ok(StageOutcome::Passed)
    } else if said.contains("failed to fetch") {
        let why = "licences are fine; the advisory database cannot be fetched";
        Ok(StageOutcome::Skipped(why.to_owned()))
    } else {
        anyhow::bail!("a dependency has an open advisory")
    }
}

/// The dist build aborts on a panic and is linked as one unit, so the tests that drive the whole
/// program run again with it. The test binaries are those of the `tests` stage: selecting fewer packages
/// would select other features and rebuild everything.
fn dist() -> anyhow::Result<StageOutcome> {
    let exe = build_dist()?;
    let bytes = std::fs::metadata(&exe)?.len();
    println!("{}: {:.1} MB", exe.display(), bytes as f64 / 1e6);
    let mut command = cargo::cargo();
    if is_available(cargo::cargo().arg("nextest")) {
        // The query tests call the library, so another executable changes nothing for them.
        let driven = "package(claude-mem) and kind(test) and not test(/^queries::/)";
        command.args(["nextest", "run", "--no-fail-fast", "--filterset", driven]);
    } else {
        command.args(["test", "--no-fail-fast", "--test", "*"]);
    }
    run(command.args(["--locked", "--workspace"]).env(SEED.0, SEED.1).env(EXE_VARIABLE, &exe))?;
    Ok(StageOutcome::Passed)
}
