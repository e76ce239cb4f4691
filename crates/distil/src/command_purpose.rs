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
        "playwright" | "cypress" if first == "install" => CommandPurpose::Remedy,
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

/// Routine programs that change files or processes.
const CHANGING: &[&str] =
    &[".", "chmod", "chown", "cp", "export", "kill", "ln", "mkdir", "mv", "rm", "source", "tee", "touch"];
/// First arguments of commands that only look at something.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "--help", "--version", "-V", "cat", "current", "describe", "diff", "freeze", "get", "help", "history", "images", "info", "inspect",
    "list", "log", "logs", "ls", "outdated", "ps", "search", "show", "status", "top", "tree", "version", "view", "which", "whoami", "why",
];
/// Second arguments of such commands: `kubectl config view`, `docker compose ps`.
const LOOKING_BELOW: &[&str] =
    &["current-context", "get-contexts", "inspect", "list", "logs", "ls", "ps", "show", "status", "view"];
/// Arguments by which any program prepares the machine for another command.
#[rustfmt::skip]
const PREPARING: &[&str] = &[
    "add", "approve", "enable", "import", "install", "link", "login", "restart", "start", "switch", "trust", "unlock", "up", "use",
    "use-context", "force-unlock",
];

/// Whether a command changes something that a later command may need: files, settings, services.
pub(super) fn changes_state(simple: &SimpleCommand) -> bool {
    let looks = matches!(simple.program(), "curl" | "dig" | "nc" | "nslookup" | "ping" | "wget")
        || simple.program() != "go"
        && (LOOKING.contains(&simple.argument(1)) || LOOKING_BELOW.contains(&simple.argument(2)))
        // `npm version` prints, `npm version patch` changes.
        && !(simple.argument(1) == "version" && simple.bare().len() > 2);
    match purpose_of(simple) {
        CommandPurpose::Test | CommandPurpose::Check => false,
        CommandPurpose::Routine => CHANGING.contains(&simple.program()),
        CommandPurpose::Git => {
            let changing = ["clean", "config", "fetch", "gc", "lfs", "pull", "remote", "submodule"];
            changing.contains(&simple.argument(1)) && simple.bare().len() > 2
        }
        CommandPurpose::Build => true,
        CommandPurpose::Remedy | CommandPurpose::Run => !looks,
    }
}

/// Whether a command that passed between a failure and its end is what helped, also where nobody says so.
pub(super) fn is_preparation(simple: &SimpleCommand) -> bool {
    let mut arguments = simple.bare().iter().skip(1).take(2);
    let prepares = match purpose_of(simple) {
        CommandPurpose::Remedy => true,
        CommandPurpose::Run => arguments.any(|word| PREPARING.contains(&word.as_str())),
        CommandPurpose::Routine => matches!(simple.program(), "chmod" | "chown" | "kill"),
        _ => false,
    };
    prepares && changes_state(simple)
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
