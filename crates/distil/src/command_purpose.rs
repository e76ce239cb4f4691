//! Classifies commands by their [`CommandPurpose`].

use super::shell::{self, SimpleCommand};

/// The purpose of a command. The outcome matters only for some purposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandPurpose {
    Test,
    Build,
    /// Types, style, formatting.
    Check,
    /// It may cure a failure that no edit cures: installing, migrating, starting a service.
    Remedy,
    Run,
    Git,
    /// Looking around: `ls`, `cat`, `grep`. Its failures mean nothing.
    Routine,
}

/// Whether a command of this purpose tests the work: its outcome is told.
pub(super) const fn is_check(purpose: CommandPurpose) -> bool {
    matches!(purpose, CommandPurpose::Test | CommandPurpose::Build | CommandPurpose::Check)
}

/// Programs that only look around.
const ROUTINE: &str = "ls cat head tail grep rg find fd wc echo printf pwd cd tree which whereis type file stat du df ps \
    sort uniq cut awk sed less more diff env printenv date whoami uname sleep true false test [ [[ mkdir \
    touch cp mv rm ln chmod chown export source . set unset jq xargs tee tr basename dirname realpath \
    readlink history alias kill pgrep lsof md5sum sha256sum column for done fi clear man claude-mem gh \
    ag bat eza pushd popd wait exit case esac nl tac comm paste hexdump xxd od";

/// What a command is for, by its program and arguments.
pub(super) fn purpose_of(simple: &SimpleCommand) -> CommandPurpose {
    let (first, second) = (simple.argument(1), simple.argument(2));
    match simple.program() {
        "git" | "jj" | "hg" => CommandPurpose::Git,
        name if ROUTINE.split_ascii_whitespace().any(|known| known == name) => CommandPurpose::Routine,
        "cargo" => match first {
            "test" | "nextest" | "t" | "miri" | "bench" => CommandPurpose::Test,
            "clippy" | "fmt" | "deny" | "audit" => CommandPurpose::Check,
            "add" | "install" | "update" | "remove" => CommandPurpose::Remedy,
            "tree" | "metadata" | "search" | "doc" | "--version" | "--list" => CommandPurpose::Routine,
            _ => CommandPurpose::Build,
        },
        "pytest" | "py.test" | "tox" | "nox" | "unittest" | "jest" | "vitest" | "mocha" | "ava" | "rspec"
        | "phpunit" | "pest" | "ctest" | "playwright" | "cypress" | "bats" | "ginkgo" | "busted"
        | "minitest" => CommandPurpose::Test,
        "npm" | "pnpm" | "yarn" | "bun" | "deno" => {
            let words = &simple.bare()[1..];
            let mut words = words[shell::package_options(words)..].iter().map(String::as_str);
            script(words.next().unwrap_or_default(), words.next().unwrap_or_default())
        }
        "go" => match first {
            "test" => CommandPurpose::Test,
            "vet" | "fmt" => CommandPurpose::Check,
            "get" | "mod" | "install" | "generate" => CommandPurpose::Remedy,
            "version" | "env" | "list" | "doc" => CommandPurpose::Routine,
            _ => CommandPurpose::Build,
        },
        "make" | "just" | "task" | "rake" | "mix" | "gradle" | "gradlew" | "mvn" | "mvnw" | "sbt"
        | "dotnet" | "swift" | "bazel" | "cmake" | "ninja" | "xcodebuild" | "composer" | "zig" | "stack"
        | "cabal" | "flutter" | "dart" | "meson" | "lein" => target(simple),
        "tsc" | "vue-tsc" | "webpack" | "vite" | "rollup" | "esbuild" | "next" | "gcc" | "g++" | "clang"
        | "clang++" | "cc" | "javac" | "rustc" | "kotlinc" | "ghc" | "nvcc" => CommandPurpose::Build,
        "eslint" | "prettier" | "biome" | "ruff" | "black" | "mypy" | "pyright" | "flake8" | "pylint"
        | "isort" | "rubocop" | "golangci-lint" | "staticcheck" | "shellcheck" | "stylelint" | "phpstan"
        | "ktlint" | "clang-tidy" | "hadolint" | "yamllint" | "rustfmt" | "swiftlint" | "oxlint"
        | "tflint" | "actionlint" | "gofmt" => CommandPurpose::Check,
        "docker" | "podman" | "docker-compose" | "nerdctl" => match (first, second) {
            ("build" | "buildx", _) | ("compose", "build") => CommandPurpose::Build,
            ("ps" | "images" | "logs" | "inspect" | "version", _) | ("compose", "ps" | "logs") => {
                CommandPurpose::Routine
            }
            _ => CommandPurpose::Remedy,
        },
        "pip" | "pip3" | "apt" | "apt-get" | "brew" | "dnf" | "yum" | "apk" | "pacman" | "gem" | "rustup"
        | "nvm" | "fnm" | "asdf" | "mise" | "conda" | "uv" | "poetry" | "pipenv" | "systemctl"
        | "service" | "alembic" | "prisma" | "flyway" | "createdb" | "dropdb" | "corepack" | "ensurepip"
        | "venv" | "direnv" | "initdb" | "pg_ctl" => CommandPurpose::Remedy,
        "" => CommandPurpose::Routine,
        _ => CommandPurpose::Run,
    }
}

/// What a package manager's script is for, by its name.
fn script(first: &str, second: &str) -> CommandPurpose {
    let name = if first == "run" { second } else { first };
    match name {
        "install" | "ci" | "add" | "i" | "remove" | "update" | "up" | "rebuild" | "link" => {
            CommandPurpose::Remedy
        }
        "ls" | "list" | "view" | "why" | "outdated" | "config" | "--version" | "-v" | "" => {
            CommandPurpose::Routine
        }
        name if name.contains("test") || name.contains("e2e") => CommandPurpose::Test,
        name if ["lint", "type", "format", "check", "fmt"].iter().any(|part| name.contains(part)) => {
            CommandPurpose::Check
        }
        name if name.contains("build") || name.contains("compile") => CommandPurpose::Build,
        _ => CommandPurpose::Run,
    }
}

/// What a build tool was asked for, by the names of its targets.
fn target(simple: &SimpleCommand) -> CommandPurpose {
    let asked = |names: &[&str]| {
        let targets = simple.bare().iter().skip(1).filter(|word| !word.starts_with('-'));
        targets.into_iter().any(|word| names.iter().any(|name| word.to_lowercase().contains(name)))
    };
    if asked(&["test", "spec", "verify"]) {
        CommandPurpose::Test
    } else if asked(&["lint", "fmt", "format", "analyze", "check"]) {
        CommandPurpose::Check
    } else if asked(&["install", "deps", "setup", "migrate", "restore", "seed", "require", "pub"]) {
        CommandPurpose::Remedy
    } else {
        CommandPurpose::Build
    }
}
