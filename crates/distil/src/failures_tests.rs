use super::*;
use crate::patch::PatchedFile;

const AT: Millis = Millis(1);

fn run(line: &str) -> CommandRun {
    CommandRun::read(line, "ok", false, false)
}

fn failed(line: &str, output: &str) -> CommandRun {
    CommandRun::read(line, output, true, false)
}

/// The failures that the last of these runs ends.
fn overcome(runs: &[CommandRun]) -> Vec<OvercomeFailure> {
    let mut carry = Carry::default();
    runs.iter().map(|run| note(run, AT, &mut carry)).last().unwrap_or_default()
}

#[test]
fn commands_that_change_something_are_recorded_and_looking_is_not() {
    let runs = [
        failed("npm run dev", "Error: listen EADDRINUSE: address already in use :::4100"),
        run("lsof -ti :4100"),
        run("kubectl get pods"),
        run("kill 4711"),
        run("cat package.json"),
        run("npm run dev"),
    ];
    let over = overcome(&runs);
    assert_eq!(over[0].failure.since, ["kill 4711"]);
    assert_eq!(over[0].failure.remedies, ["kill 4711"]);
}

#[test]
fn what_was_tried_before_the_same_error_did_not_help() {
    let error = "Error: connect ECONNREFUSED 127.0.0.1:5433";
    let runs = [
        failed("npm run seed", error),
        run("npm install"),
        failed("npm run seed", error),
        run("docker compose up -d db"),
        run("npm run seed"),
    ];
    assert_eq!(overcome(&runs)[0].failure.remedies, ["docker compose up -d db"]);
}

#[test]
fn commands_before_it_in_the_same_line_count_if_they_are_new() {
    let error = "KeyError: 'SHOP_SIGNING_KEY'";
    let with_new = [failed("python app.py", error), run(". ./.env && python app.py")];
    assert_eq!(overcome(&with_new)[0].failure.since, [". ./.env"]);
    let line = ". ./.env && python app.py";
    let with_old = [failed(line, error), run(line)];
    assert!(overcome(&with_old)[0].failure.since.is_empty());
}

#[test]
fn other_options_of_a_program_need_the_agents_words() {
    let runs = [
        failed("psql -U app shop", "FATAL:  Peer authentication failed for user \"app\""),
        run("psql -h localhost -U app shop"),
    ];
    let over = overcome(&runs);
    assert!(over[0].needs_words);
    assert_eq!(over[0].passed, "psql -h localhost -U app shop");
    let narrowed = [failed("cargo test", "error: test failed"), run("cargo test -p store")];
    assert!(overcome(&narrowed).is_empty(), "a part of the tests is not the whole");
}

#[test]
fn configurations_are_recorded_and_code_voids_the_failure() {
    let mut carry = Carry::default();
    note(&failed("mvn verify", "[ERROR] release version 21 not supported"), AT, &mut carry);
    note_edit(&PatchedFile::written("README.md", "Build with Maven"), &mut carry);
    note_edit(&PatchedFile::replaced("pom.xml", "<release>21", "<release>17", None), &mut carry);
    let open = &carry.failures[0];
    assert!(!open.edited);
    assert_eq!(open.edits, [ConfigurationEdit { path: "pom.xml".into(), added: "<release>17".into() }]);
    note_edit(&PatchedFile::written("src/Main.java", "class Main {}"), &mut carry);
    assert!(carry.failures[0].edited);
}
