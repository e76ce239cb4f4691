use serde_json::json;

use super::faces_tests::post;
use super::{ModelScript, ModelTurn, RequestMatcher, ScriptedModel, TestGate, TurnSource};

fn ask(model: &ScriptedModel, text: &str) -> String {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": text}]});
    post(model, "/v1/messages?beta=true", &body).json()["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn turns_answer_in_order_then_fallback() {
    let script = ModelScript::new().turns([ModelTurn::text("one"), ModelTurn::text("two")]);
    let model = ScriptedModel::start(script.fallback(ModelTurn::text("nothing left")));
    let answers = ["a", "b", "c"].map(|text| ask(&model, text));
    assert_eq!(answers, ["one", "two", "nothing left"]);
    assert_eq!(model.messages()[2].source, TurnSource::Fallback);
    assert_eq!(model.turns_left(), 0);
}

#[test]
fn rule_answers_without_using_a_turn() {
    let script = ModelScript::new()
        .turn(ModelTurn::text("main"))
        .always(RequestMatcher::any().last_user_is("Warmup"), ModelTurn::text("warm"))
        .rule(RequestMatcher::any().last_user("title"), [ModelTurn::text("A title")]);
    let model = ScriptedModel::start(script);
    let answers = ["Warmup", "give a title", "Warmup", "Warmup please"].map(|text| ask(&model, text));
    assert_eq!(answers, ["warm", "A title", "warm", "main"]);
    assert_eq!(model.messages()[1].source, TurnSource::Rule(1));
}

#[test]
fn rule_matches_any_part_of_a_request() {
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
        (RequestMatcher::any(), true),
        (RequestMatcher::any().system("compact"), true),
        (RequestMatcher::any().system("last"), false),
        (RequestMatcher::any().tools(true), true),
        (RequestMatcher::any().tools(false), false),
        (RequestMatcher::any().model("small"), true),
        (RequestMatcher::any().last_user("first"), false),
        (RequestMatcher::any().anywhere("needle"), true),
        (RequestMatcher::any().anywhere("needle").tools(false), false),
    ] {
        let shown = format!("{when:?}");
        let model = ScriptedModel::start(ModelScript::new().always(when, ModelTurn::text("caught")));
        let answer = post(&model, "/v1/messages", &body).json();
        assert_eq!(answer["content"][0]["text"] == "caught", caught, "{shown}");
    }
}

#[test]
fn gated_turn_answers_when_gate_opens() {
    let gate = TestGate::shut();
    let model = ScriptedModel::start(ModelScript::new().turn(ModelTurn::text("late").after(&gate)));
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| ask(&model, "now"));
        assert_eq!(model.wait_for(1)[0].last_user(), "now");
        assert!(!asking.is_finished());
        gate.open();
        assert_eq!(asking.join().unwrap(), "late");
    });
}

#[test]
fn turns_and_scripts_can_be_added_later() {
    let model = ScriptedModel::start(ModelScript::new());
    model.push(ModelTurn::text("added"));
    assert_eq!(ask(&model, "x"), "added");
    model.rescript(ModelScript::new().turn(ModelTurn::text("second act")));
    assert_eq!(ask(&model, "x"), "second act");
    assert_eq!(model.messages().len(), 2);
}
