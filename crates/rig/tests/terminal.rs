//! The interactive client, driven by keys.

use rig::Sandbox;
use rig::client::{self, CURRENT};
use rig::model::{Script, ScriptedModel, Turn};
use rig::sandbox::{EVENTS, Fired};
use rig::tui::Tui;

#[test]
fn clearing_at_the_terminal_ends_one_session_and_starts_another() {
    let Some(client) = client::or_skip(CURRENT) else {
        return;
    };
    let script = Script::session().turns([Turn::text("Good morning."), Turn::text("Good night.")]);
    let model = ScriptedModel::start(script);
    let home = Sandbox::new().with_client(&client).with_model(&model);
    home.watch_hooks(&EVENTS);
    let mut tui = match Tui::start(&home, &[]) {
        Ok(tui) => tui,
        Err(missing) => return println!("skipped: {missing}"),
    };
    tui.wait_for("Claude Code");
    tui.submit("Say good morning");
    tui.wait_for("Good morning.");
    tui.submit("/clear");
    tui.submit("Say good night");
    tui.wait_for("Good night.");
    tui.submit("/exit");
    let output = tui.end();
    assert!(!output.timed_out, "{output}");

    let fired = home.fired();
    let told = |f: &Fired| {
        let why = f.payload["source"]
            .as_str()
            .or(f.payload["reason"].as_str());
        format!("{} {}", f.event, why.unwrap_or_default())
            .trim()
            .to_owned()
    };
    let (before, after) = fired.split_at(4);
    let told_before: Vec<_> = before.iter().map(told).collect();
    let told_after: Vec<_> = after.iter().map(told).collect();
    assert_eq!(
        told_before,
        [
            "SessionStart startup",
            "UserPromptSubmit",
            "Stop",
            "SessionEnd clear"
        ]
    );
    assert_eq!(
        told_after,
        [
            "SessionStart clear",
            "UserPromptSubmit",
            "Stop",
            "SessionEnd prompt_input_exit"
        ]
    );
    let id = |f: &Fired| f.payload["session_id"].to_string();
    assert!(before.iter().all(|f| id(f) == id(&before[0])));
    assert!(after.iter().all(|f| id(f) == id(&after[0])));
    assert_ne!(id(&before[0]), id(&after[0]));
}
