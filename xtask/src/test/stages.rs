//! The stages in their order: cheap verdicts first, and what others need before them.

use super::Outcome;
use super::scripts::Scripts;
use super::{browser, needs};
use crate::cargo::{self, answers, build_dist, run};

#[derive(Debug)]
pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn() -> anyhow::Result<Outcome>,
}

pub(super) static STAGES: &[Stage] = &[
    Stage {
        name: "needs",
        about: "programs and clients that tests use",
        run: || Ok(needs::install()),
    },
    Stage {
        name: "fmt",
        about: "the code is formatted",
        run: fmt,
    },
    Stage {
        name: "clippy",
        about: "no warning, in any target",
        run: clippy,
    },
    Stage {
        name: "tests",
        about: "unit, program, fault (short form) and abuse tests",
        run: tests,
    },
    Stage {
        name: "browser",
        about: "the viewer in a real browser",
        run: browser::run_all,
    },
    Stage {
        name: "mcp",
        about: "the protocol's own client talks to our server",
        run: mcp,
    },
    Stage {
        name: "doctests",
        about: "examples in the documentation compile and hold",
        run: doctests,
    },
    Stage {
        name: "docs",
        about: "the documentation builds without a warning",
        run: docs,
    },
    Stage {
        name: "deny",
        about: "licences, advisories and sources of dependencies",
        run: deny,
    },
    Stage {
        name: "dist",
        about: "the executable that ships, built once, and what only it can show",
        run: dist,
    },
];

/// Names the executable under test to the tests that drive it; unset, they take the one that
/// cargo built beside them.
const EXE_VARIABLE: &str = "CLAUDE_MEM_TEST_EXE";

/// Property tests try the same cases on every machine; who looks for new ones leaves it out.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1769853600");

fn fmt() -> anyhow::Result<Outcome> {
    run(cargo::cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Outcome::Passed)
}

fn clippy() -> anyhow::Result<Outcome> {
    run(cargo::cargo().args([
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]))?;
    Ok(Outcome::Passed)
}

fn tests() -> anyhow::Result<Outcome> {
    let mut command = cargo::cargo();
    if answers(cargo::cargo().arg("nextest")) {
        command.args(["nextest", "run", "--no-fail-fast"]);
    } else {
        println!("cargo-nextest is not installed; cargo test does its work");
        command.args(["test", "--no-fail-fast", "--lib", "--bins", "--tests"]);
    }
    run(command
        .args(["--locked", "--workspace"])
        .env(SEED.0, SEED.1))?;
    Ok(Outcome::Passed)
}

fn mcp() -> anyhow::Result<Outcome> {
    let scripts = match Scripts::of("tests/mcp") {
        Ok(scripts) => scripts,
        Err(missing) => return Ok(Outcome::Skipped(format!("{missing:#}"))),
    };
    cargo::build_debug()?;
    let exe = cargo::target_dir()?.join("debug/claude-mem");
    scripts.run_all(&[(EXE_VARIABLE, &exe)])?;
    Ok(Outcome::Passed)
}

fn doctests() -> anyhow::Result<Outcome> {
    run(cargo::cargo().args(["test", "--locked", "--workspace", "--doc"]))?;
    Ok(Outcome::Passed)
}

fn docs() -> anyhow::Result<Outcome> {
    run(cargo::cargo()
        .args(["doc", "--locked", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "--deny warnings"))?;
    Ok(Outcome::Passed)
}

fn deny() -> anyhow::Result<Outcome> {
    if !answers(cargo::cargo().arg("deny")) {
        return Ok(Outcome::Skipped("cargo-deny is not installed".to_owned()));
    }
    run(cargo::cargo().args(["deny", "--locked", "check", "licenses", "bans", "sources"]))?;
    // The list of advisories comes over the network, which a test may not depend on.
    let advisories = cargo::cargo()
        .args(["deny", "--locked", "check", "advisories"])
        .output()?;
    let said = String::from_utf8_lossy(&advisories.stderr);
    print!("{said}");
    if advisories.status.success() {
        Ok(Outcome::Passed)
    } else if said.contains("failed to fetch") {
        let why = "licences are fine; the list of advisories cannot be fetched here";
        Ok(Outcome::Skipped(why.to_owned()))
    } else {
        anyhow::bail!("a dependency has an open advisory")
    }
}

/// The dist build aborts on a panic and is linked as one unit, so the tests that drive a whole
/// program run once more with it. They are the same binaries as before: choosing fewer packages
/// would choose other features, and build everything again.
fn dist() -> anyhow::Result<Outcome> {
    let exe = build_dist()?;
    let bytes = std::fs::metadata(&exe)?.len();
    println!("{}: {:.1} MB", exe.display(), bytes as f64 / 1e6);
    let mut command = cargo::cargo();
    if answers(cargo::cargo().arg("nextest")) {
        // Questions of all kinds are asked of the library, whoever else is built.
        let driven = "package(claude-mem) and kind(test) and not test(/^queries::/)";
        command.args(["nextest", "run", "--no-fail-fast", "--filterset", driven]);
    } else {
        command.args(["test", "--no-fail-fast", "--test", "*"]);
    }
    run(command
        .args(["--locked", "--workspace"])
        .env(SEED.0, SEED.1)
        .env(EXE_VARIABLE, &exe))?;
    Ok(Outcome::Passed)
}
