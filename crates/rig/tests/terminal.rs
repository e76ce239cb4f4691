//! The interactive client, driven by key presses.

use rig::Sandbox;
use rig::client::{self, CURRENT};
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use rig::sandbox::{EVENTS, FiredHook};
use rig::tui::TuiSession;

#[test]
fn clear_ends_one_session_and_starts_another() {
    let Some(client) = client::or_skip(CURRENT) else {
        return;
    };
    let script =
        ModelScript::session().turns([ModelTurn::text("Good morning."), ModelTurn::text("Good night.")]);
    let model = ScriptedModel::start(script);
    let home = Sandbox::new().with_client(&client).with_model(&model);
    home.watch_hooks(&EVENTS);
    let mut tui = match TuiSession::start(&home, &[]) {
        Ok(tui) => tui,
        Err(missing) => return rig::skip(missing),
    };
    tui.wait_for("Claude Code");
    tui.submit("Say good morning");
    tui.wait_for("Good morning.");
    // The client shows text while hooks still run: the recorded hooks say when a step is over.
    home.wait_for_fired_hooks("Stop", 1);
    tui.submit("/clear");
    home.wait_for_fired_hooks("SessionEnd", 1);
    home.wait_for_fired_hooks("SessionStart", 2);
    tui.submit("Say good night");
    tui.wait_for("Good night.");
    home.wait_for_fired_hooks("Stop", 2);
    tui.submit("/exit");
    let output = tui.wait_for_exit();
    assert!(!output.timed_out, "{output}");

    let fired = home.fired_hooks();
    let told = |f: &FiredHook| {
        let why = f.payload["source"].as_str().or(f.payload["reason"].as_str());
        format!("{} {}", f.event, why.unwrap_or_default()).trim().to_owned()
    };
    let id = |f: &FiredHook| f.payload["session_id"].to_string();
    let (before, after): (Vec<_>, Vec<_>) = fired.iter().partition(|f| id(f) == id(&fired[0]));
    let told_before: Vec<_> = before.into_iter().map(told).collect();
    assert_eq!(told_before, ["SessionStart startup", "UserPromptSubmit", "Stop", "SessionEnd clear"]);
    let cleared = id(after[0]);
    assert!(after.iter().all(|f| id(f) == cleared), "{after:?}");
    let told_after: Vec<_> = after.into_iter().map(told).collect();
    assert_eq!(
        told_after,
        ["SessionStart clear", "UserPromptSubmit", "Stop", "SessionEnd prompt_input_exit"]
    );
}
