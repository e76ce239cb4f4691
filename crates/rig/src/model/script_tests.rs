use serde_json::json;

use super::faces_tests::post;
use super::{Gate, Script, ScriptedModel, Source, Turn, When};

fn ask(model: &ScriptedModel, text: &str) -> String {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": text}]});
    post(model, "/v1/messages?beta=true", &body).json()["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn turns_answer_in_order_and_then_the_fallback_does() {
    let script = Script::new().turns([Turn::text("one"), Turn::text("two")]);
    let model = ScriptedModel::start(script.otherwise(Turn::text("nothing left")));
    let answers = ["a", "b", "c"].map(|text| ask(&model, text));
    assert_eq!(answers, ["one", "two", "nothing left"]);
    assert_eq!(model.messages()[2].source, Source::Fallback);
    assert_eq!(model.turns_left(), 0);
}

#[test]
fn a_rule_catches_side_requests_without_using_up_a_turn() {
    let script = Script::new()
        .turn(Turn::text("main"))
        .always(When::any().last_user_is("Warmup"), Turn::text("warm"))
        .rule(When::any().last_user("title"), [Turn::text("A title")]);
    let model = ScriptedModel::start(script);
    let answers =
        ["Warmup", "give a title", "Warmup", "Warmup please"].map(|text| ask(&model, text));
    assert_eq!(answers, ["warm", "A title", "warm", "main"]);
    assert_eq!(model.messages()[1].source, Source::Rule(1));
}

#[test]
fn a_rule_can_look_at_system_tools_model_and_the_whole_request() {
    let body = json!({
        "model": "small-one", "system": [{"type": "text", "text": "You compact."}],
        "tools": [{"name": "Read"}],
        "messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": [{"type": "text", "text": "needle"}]},
            {"role": "user", "content": [{"type": "text", "text": "last"}]},
        ],
    });
    for (when, caught) in [
        (When::any(), true),
        (When::any().system("compact"), true),
        (When::any().system("last"), false),
        (When::any().tools(true), true),
        (When::any().tools(false), false),
        (When::any().model("small"), true),
        (When::any().last_user("first"), false),
        (When::any().anywhere("needle"), true),
        (When::any().anywhere("needle").tools(false), false),
    ] {
        let shown = format!("{when:?}");
        let model = ScriptedModel::start(Script::new().always(when, Turn::text("caught")));
        let answer = post(&model, "/v1/messages", &body).json();
        assert_eq!(answer["content"][0]["text"] == "caught", caught, "{shown}");
    }
}

#[test]
fn a_turn_behind_a_gate_is_answered_when_the_test_says_so() {
    let gate = Gate::shut();
    let model = ScriptedModel::start(Script::new().turn(Turn::text("late").after(&gate)));
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&model, "now"));
        assert_eq!(model.wait_for(1)[0].last_user(), "now");
        assert!(!asking.is_finished());
        gate.open();
        assert_eq!(asking.join().unwrap(), "late");
    });
}

#[test]
fn a_model_can_be_given_more_to_say() {
    let model = ScriptedModel::start(Script::new());
    model.push(Turn::text("added"));
    assert_eq!(ask(&model, "x"), "added");
    model.rescript(Script::new().turn(Turn::text("second act")));
    assert_eq!(ask(&model, "x"), "second act");
    assert_eq!(model.messages().len(), 2);
}
