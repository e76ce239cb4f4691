//! Each provider against a real server on loopback, well behaved and otherwise.

use rig::model::{Fault, Gate, Script, ScriptedModel, Stop, Turn};

use super::*;
use crate::config::Secret;

const KEY: &str = "sk-secret-0123456789";
const ANSWER: &str = "<observation><title>It works</title></observation>";
/// Long enough for a loaded machine, short enough for a test; nothing here waits for it.
const LONG: Duration = Duration::from_mins(1);
/// For servers that never answer: this much is really waited.
const SHORT: Duration = Duration::from_millis(60);

const ASK: Ask<'_> = Ask {
    system: "You keep the memory.",
    so_far: "already kept: nothing",
    message: "<episode>the login</episode>",
    answer_tokens_max: 512,
    now: Millis(1_000_000_000_000),
};

type Open = fn(&str) -> Box<dyn Model>;

/// Every provider that speaks HTTP, pointed at this address.
const FACES: [(&str, Open); 3] = [
    ("anthropic", |url| {
        let endpoint = Endpoint::new(url, false).unwrap();
        let network = Network::default();
        Box::new(Anthropic::new(&endpoint, "m-1", Secret::new(KEY), &network).unwrap())
    }),
    ("openai", |url| {
        let endpoint = Endpoint::new(&format!("{url}/v1"), false).unwrap();
        let network = Network::default();
        Box::new(OpenAi::new(&endpoint, "m-1", Secret::new(KEY), &network).unwrap())
    }),
    ("gemini", |url| {
        let endpoint = Endpoint::new(url, false).unwrap();
        let network = Network::default();
        Box::new(Gemini::new(&endpoint, "m-1", Secret::new(KEY), &network).unwrap())
    }),
];

/// What each provider makes of one turn of the model.
fn each(
    turn: impl Fn() -> Turn,
    deadline: Duration,
    check: impl Fn(&str, Result<Answer, ModelError>),
) {
    for (name, open) in FACES {
        let server = ScriptedModel::start(Script::new().turn(turn()));
        let result = open(&server.url()).answer(&ASK, deadline);
        let shown = format!("{result:?}");
        assert!(!shown.contains(KEY), "{name} tells its key: {shown}");
        check(name, result);
    }
}

#[test]
fn an_answer_comes_with_its_price() {
    let bill = rig::model::Usage {
        input: 900,
        output: 70,
        cache_read: 0,
        cache_write: 0,
    };
    each(
        || Turn::text(ANSWER).usage(bill),
        LONG,
        |name, result| {
            let answer = result.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(answer.text, ANSWER, "{name}");
            assert_eq!(
                answer.usage,
                Some(Usage {
                    input: 900,
                    output: 70
                }),
                "{name}"
            );
        },
    );
}

#[test]
fn a_provider_that_names_no_price_is_believed() {
    each(
        || Turn::text(ANSWER).without_usage(),
        LONG,
        |name, result| {
            let usage = result.unwrap_or_else(|e| panic!("{name}: {e}")).usage;
            // Anthropic's answers always carry figures.
            assert!(usage.is_none() || name == "anthropic", "{name}: {usage:?}");
        },
    );
}

#[test]
fn the_question_carries_all_that_a_forgetful_model_needs() {
    for (name, open) in FACES {
        let server = ScriptedModel::start(Script::new().turn(Turn::text(ANSWER)));
        open(&server.url()).answer(&ASK, LONG).unwrap();
        let asked = server.messages().remove(0);
        assert_eq!(asked.model(), "m-1", "{name}");
        assert_eq!(asked.system(), ASK.system, "{name}");
        let message = asked.last_user();
        assert!(
            message.starts_with("<so_far>\nalready kept: nothing\n</so_far>\n<episode>"),
            "{name}: {message}"
        );
        assert!(
            asked.body.to_string().contains("512"),
            "{name}: the answer is bounded"
        );
        assert!(!asked.path.contains(KEY), "{name}: no key in the address");
        let headers = ["x-api-key", "authorization", "x-goog-api-key"];
        let sent = headers
            .iter()
            .filter_map(|header| asked.header(header))
            .any(|v| v.contains(KEY));
        assert!(sent, "{name}: the key is in a header");
    }
}

#[test]
fn a_model_on_this_machine_needs_no_key() {
    let server = ScriptedModel::start(Script::new().turn(Turn::text(ANSWER)));
    let endpoint = Endpoint::new(&format!("{}/v1", server.url()), false).unwrap();
    let network = Network::default();
    let mut model = OpenAi::new(&endpoint, "llama", Secret::new(""), &network).unwrap();
    assert_eq!(model.answer(&ASK, LONG).unwrap().text, ANSWER);
    assert_eq!(server.messages()[0].header("authorization"), None);
}

#[test]
fn a_public_service_without_a_key_is_not_even_asked() {
    let network = Network::default();
    let anthropic = Endpoint::new(Anthropic::BASE, false).unwrap();
    let none = || Secret::new("");
    assert!(matches!(
        Anthropic::new(&anthropic, "m", none(), &network),
        Err(ModelError::Auth { .. })
    ));
    let gemini = Endpoint::new(Gemini::BASE, false).unwrap();
    assert!(matches!(
        Gemini::new(&gemini, "m", none(), &network),
        Err(ModelError::Auth { .. })
    ));
    assert!(matches!(
        Gemini::new(&gemini, "m/../x", Secret::new(KEY), &network),
        Err(ModelError::Misconfigured { .. })
    ));
}

#[test]
fn every_error_status_is_a_decision() {
    for (turn, want) in [
        (Turn::error(401), "Auth"),
        (Turn::error(403), "Auth"),
        (Turn::error(402), "Quota"),
        (Turn::error(404), "Misconfigured"),
        (Turn::error(400), "Rejected"),
        (Turn::error(413), "TooLong"),
        (Turn::error(429), "Retry { after: None"),
        (
            Turn::error(429).header("retry-after", "7"),
            "Retry { after: Some(7s)",
        ),
        (
            Turn::error(429).header("retry-after", "Sun, 09 Sep 2001 01:47:10 GMT"),
            "Retry { after: Some(30s)",
        ),
        (
            Turn::error(429).header("retry-after", "7200"),
            "Quota { after: Some(7200s)",
        ),
        (Turn::error(500), "Retry"),
        (
            Turn::error(503).header("retry-after", "3"),
            "Retry { after: Some(3s)",
        ),
        (Turn::error(529), "Retry"),
        (
            Turn::error(302).header("location", "http://example.invalid/"),
            "Misconfigured",
        ),
    ] {
        each(
            || turn.clone(),
            LONG,
            |name, result| {
                let error = format!("{:?}", result.unwrap_err());
                assert!(error.starts_with(want), "{name}: {error}, want {want}");
            },
        );
    }
}

#[test]
fn a_server_that_holds_the_connection_costs_no_more_than_the_deadline() {
    let faults: [fn() -> Fault; 4] = [
        || Fault::Hold(Gate::shut()),
        || Fault::StallAt(1, Gate::shut()),
        || Fault::StallAt(40, Gate::shut()),
        || Fault::StallAt(300, Gate::shut()),
    ];
    for fault in faults {
        each(
            || Turn::text(ANSWER).fault(fault()),
            SHORT,
            |name, result| {
                assert_eq!(result, Err(ModelError::TimedOut), "{name}");
            },
        );
    }
}

#[test]
fn an_answer_cut_at_any_byte_is_no_answer() {
    for (name, open) in FACES {
        let mut whole = 0;
        for bytes in 0.. {
            let turn = Turn::text(ANSWER).fault(Fault::CutAt(bytes));
            let server = ScriptedModel::start(Script::new().turn(turn));
            match open(&server.url()).answer(&ASK, LONG) {
                Ok(answer) => {
                    assert_eq!(answer.text, ANSWER, "{name} cut at {bytes}");
                    whole = bytes;
                    break;
                }
                Err(ModelError::Garbled { .. }) => {}
                Err(other) => panic!("{name} cut at {bytes}: {other:?}"),
            }
        }
        assert!(whole > 200, "{name}: {whole} bytes make a whole answer");
    }
}

#[test]
fn what_is_no_answer_of_the_api_is_garbled() {
    let page = "<html><title>Sign in</title></html>";
    for fault in [
        Fault::ContentType("text/html".into()),
        Fault::ContentType("text/event-stream".into()),
        Fault::Body(page.into()),
        Fault::Body("{}".into()),
        Fault::Body("[]".into()),
        Fault::Body("null".into()),
        Fault::Body("{\"content\": 3, \"choices\": 3, \"candidates\": 3}".into()),
        Fault::Body("[".repeat(100_000)),
        Fault::Body("{\"choices\":[{\"message\":{\"content\":\"cut".into()),
        Fault::Empty,
    ] {
        each(
            || Turn::text(ANSWER).fault(fault.clone()),
            LONG,
            |name, result| {
                assert!(
                    matches!(result, Err(ModelError::Garbled { .. })),
                    "{name} {fault:?}: {result:?}"
                );
            },
        );
    }
}

#[test]
fn a_body_without_end_is_read_to_the_limit_and_no_further() {
    each(
        || Turn::text(ANSWER).fault(Fault::Endless),
        LONG,
        |name, result| {
            let why = "the answer does not end".to_owned();
            assert_eq!(result, Err(ModelError::Garbled { why }), "{name}");
        },
    );
}

#[test]
fn a_refusal_is_a_refusal_and_is_paid_for() {
    each(
        || Turn::text("I will not.").stop(Stop::Refusal),
        LONG,
        |name, result| {
            assert!(
                matches!(result, Err(ModelError::Refused { usage: Some(_) })),
                "{name}: {result:?}"
            );
        },
    );
}

#[test]
fn an_empty_answer_is_handed_to_the_reader() {
    each(
        || Turn::text(""),
        LONG,
        |name, result| {
            assert_eq!(
                result.unwrap_or_else(|e| panic!("{name}: {e}")).text,
                "",
                "{name}"
            );
        },
    );
}

#[test]
fn an_answer_that_was_cut_for_length_is_handed_to_the_reader() {
    each(
        || Turn::text("<observation><ti").stop(Stop::MaxTokens),
        LONG,
        |name, result| {
            assert_eq!(result.unwrap().text, "<observation><ti", "{name}");
        },
    );
}

#[test]
fn nobody_listening_is_unreachable() {
    for (name, open) in FACES {
        let result = open("http://127.0.0.1:9").answer(&ASK, LONG);
        assert!(
            matches!(result, Err(ModelError::Unreachable { .. })),
            "{name}: {result:?}"
        );
    }
}

#[test]
fn the_new_name_of_the_limit_is_tried_where_the_old_one_is_refused() {
    let refusal = r#"{"error": {"code": "unsupported_parameter", "message": "use the other"}}"#;
    let refused = Turn::text("").fault(Fault::Answer(400, refusal.into()));
    let server = ScriptedModel::start(Script::new().turn(refused).otherwise(Turn::text(ANSWER)));
    let endpoint = Endpoint::new(&server.url(), false).unwrap();
    let mut model = OpenAi::new(&endpoint, "m", Secret::new(""), &Network::default()).unwrap();
    for _ in 0..2 {
        assert_eq!(model.answer(&ASK, LONG).unwrap().text, ANSWER);
    }
    let limits = |name: &str| -> Vec<bool> {
        server
            .messages()
            .iter()
            .map(|asked| asked.body[name].is_number())
            .collect()
    };
    assert_eq!(limits("max_tokens"), [true, false, false]);
    assert_eq!(limits("max_completion_tokens"), [false, true, true]);
}

#[test]
fn an_error_that_hides_in_a_good_answer_is_found() {
    for (body, want) in [
        (
            r#"{"error": {"code": 429, "message": "slow down"}}"#,
            "Retry",
        ),
        (
            r#"{"error": {"code": 402, "message": "no credit"}}"#,
            "Quota",
        ),
        (
            r#"{"choices": [{"error": {"code": 502, "message": "upstream"}}]}"#,
            "Retry",
        ),
        (r#"{"error": "model is loading"}"#, "Garbled"),
    ] {
        let turn = Turn::text("").fault(Fault::Body(body.into()));
        let server = ScriptedModel::start(Script::new().turn(turn));
        let endpoint = Endpoint::new(&server.url(), false).unwrap();
        let mut model = OpenAi::new(&endpoint, "m", Secret::new(""), &Network::default()).unwrap();
        let error = format!("{:?}", model.answer(&ASK, LONG).unwrap_err());
        assert!(error.starts_with(want), "{body}: {error}");
    }
}

#[test]
fn what_a_model_thinks_is_not_what_it_says() {
    let gemini = r#"{"candidates": [{"finishReason": "STOP", "content": {"parts": [
        {"text": "let me think", "thought": true}, {"text": "said"}]}}],
        "usageMetadata": {"promptTokenCount": 5, "thoughtsTokenCount": 9, "candidatesTokenCount": 1}}"#;
    let turn = Turn::text("").fault(Fault::Body(gemini.into()));
    let server = ScriptedModel::start(Script::new().turn(turn));
    let answer = FACES[2].1(&server.url()).answer(&ASK, LONG).unwrap();
    assert_eq!(
        answer,
        Answer {
            text: "said".into(),
            usage: Some(Usage {
                input: 5,
                output: 10
            })
        }
    );
    let server = ScriptedModel::start(Script::new().turn(Turn::text(ANSWER).thinking("hm")));
    let answer = FACES[0].1(&server.url()).answer(&ASK, LONG).unwrap();
    assert_eq!(answer.text, ANSWER);
}

#[test]
fn tokens_from_a_cache_are_tokens() {
    let bill = rig::model::Usage {
        input: 10,
        output: 3,
        cache_read: 1_000,
        cache_write: 200,
    };
    let server = ScriptedModel::start(Script::new().turn(Turn::text(ANSWER).usage(bill)));
    let answer = FACES[0].1(&server.url()).answer(&ASK, LONG).unwrap();
    assert_eq!(
        answer.usage,
        Some(Usage {
            input: 1_210,
            output: 3
        })
    );
}

#[test]
fn roots_of_ones_own_are_looked_at_only_for_https() {
    let missing = Network {
        proxy: None,
        proxy_refused: None,
        roots: Some("/nowhere/roots.pem".into()),
    };
    let local = Endpoint::new("http://127.0.0.1:1", false).unwrap();
    assert!(OpenAi::new(&local, "m", Secret::new(""), &missing).is_ok());
    let remote = Endpoint::new("https://127.0.0.1:1", false).unwrap();
    assert!(matches!(
        OpenAi::new(&remote, "m", Secret::new(""), &missing),
        Err(ModelError::Misconfigured { .. })
    ));
}

/// A server without TLS, asked for it: the certificates are loaded and nothing is sent in the clear.
#[test]
fn https_means_tls_or_nothing() {
    let server = ScriptedModel::start(Script::new());
    let endpoint = Endpoint::new(&server.url().replace("http:", "https:"), false).unwrap();
    let network = Network::default();
    let mut model = OpenAi::new(&endpoint, "m", Secret::new(KEY), &network).unwrap();
    assert!(model.answer(&ASK, LONG).is_err());
    assert!(server.requests().is_empty());
}

#[test]
fn a_proxy_that_does_not_read_is_not_gone_around() {
    let with =
        |given: &'static str| move |name: &str| (name == "HTTPS_PROXY").then(|| given.to_owned());
    assert_eq!(refused_proxy(with("http://proxy.example:3128")), None);
    assert_eq!(refused_proxy(with("")), None);
    assert_eq!(refused_proxy(with("ht!tp:/proxy")), Some("HTTPS_PROXY"));
    let network = Network {
        proxy_refused: Some("HTTPS_PROXY"),
        ..Network::default()
    };
    let remote = Endpoint::new("https://model.example", false).unwrap();
    assert!(matches!(
        OpenAi::new(&remote, "m", Secret::new(""), &network),
        Err(ModelError::Misconfigured { .. })
    ));
    let local = Endpoint::new("http://127.0.0.1:1", false).unwrap();
    assert!(OpenAi::new(&local, "m", Secret::new(""), &network).is_ok());
}
