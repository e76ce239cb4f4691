use super::*;

#[test]
fn command_definition_is_valid() {
    command().debug_assert();
}

#[test]
fn every_command_has_help_and_an_example() {
    for verb in command().get_subcommands().filter(|verb| !verb.is_hide_set()) {
        let name = verb.get_name();
        assert!(verb.get_about().is_some(), "{name} has no help");
        let example = verb.get_after_help().map(ToString::to_string);
        assert!(
            example.is_some_and(|text| text.contains(&format!("claude-mem {name}"))),
            "{name} shows no example"
        );
    }
}

#[test]
fn usage_errors_exit_64() {
    for args in [
        &["claude-mem", "no-such-verb"][..],
        &["claude-mem", "status", "--no-such-flag"],
        &["claude-mem", "config", "set"],
        &["claude-mem", "queue", "retry", "not-a-number"],
    ] {
        let error = parse(args.iter().map(OsString::from).collect()).expect_err("wrong");
        assert_eq!(
            format!("{:?}", report_clap_error(&error, false)),
            format!("{:?}", ExitCode::from(EXIT_USAGE)),
            "{args:?}"
        );
    }
}

#[test]
fn broken_pipe_is_not_a_failure() {
    let closed = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
    let export = claude_mem_transfer::export::ExportError::Write("the export".to_owned(), closed());
    assert!(is_broken_pipe(&export.into()));
    assert!(is_broken_pipe(&closed().into()));
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let export = claude_mem_transfer::export::ExportError::Write("the export".to_owned(), full);
    assert!(!is_broken_pipe(&export.into()));
}

/// The commands that take no subcommand, as they are typed.
fn leaf_commands(command: &clap::Command, path: &str, found: &mut Vec<String>) {
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help") {
        let path = format!("{path} {}", verb.get_name()).trim_start().to_owned();
        if !verb.has_subcommands() || !verb.is_subcommand_required_set() {
            found.push(path.clone());
        }
        leaf_commands(verb, &path, found);
    }
}

#[test]
fn json_of_every_command_is_documented() {
    let document = include_str!("../../../../docs/json.md");
    let documented: Vec<&str> =
        document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let mut commands = Vec::new();
    leaf_commands(&command(), "", &mut commands);
    assert!(commands.len() > 60, "{commands:?}");
    commands.retain(|name| !["completions", "embed", "mcp"].contains(&name.as_str()));
    let is_documented = |name: &String| {
        documented.iter().any(|row| {
            row.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    };
    let missing: Vec<&String> = commands.iter().filter(|name| !is_documented(name)).collect();
    assert!(missing.is_empty(), "not in docs/json.md: {missing:?}");
}
