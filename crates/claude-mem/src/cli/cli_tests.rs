use super::*;

#[test]
fn the_command_line_is_well_formed() {
    command().debug_assert();
}

#[test]
fn every_verb_says_what_it_does_and_shows_an_example() {
    for verb in command()
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set())
    {
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
fn wrong_usage_never_exits_two() {
    for args in [
        &["claude-mem", "no-such-verb"][..],
        &["claude-mem", "status", "--no-such-flag"],
        &["claude-mem", "config", "set"],
        &["claude-mem", "queue", "retry", "not-a-number"],
    ] {
        let error = parse(args.iter().map(OsString::from).collect()).expect_err("wrong");
        assert_eq!(
            format!("{:?}", refuse(&error, false)),
            format!("{:?}", ExitCode::from(EXIT_USAGE)),
            "{args:?}"
        );
    }
}

#[test]
fn an_export_that_nobody_reads_to_its_end_is_no_failure() {
    let closed = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
    let export = crate::export::ExportError::Write("the export".to_owned(), closed());
    assert!(is_broken_pipe(&export.into()));
    assert!(is_broken_pipe(&closed().into()));
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let export = crate::export::ExportError::Write("the export".to_owned(), full);
    assert!(!is_broken_pipe(&export.into()));
}
