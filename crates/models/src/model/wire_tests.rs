//! Tests each HTTP provider against a real server on loopback, well-behaved and faulty.

use std::time::Duration;

use rig::model::{ModelScript, ModelTurn, ResponseFault, ScriptedModel, StopReason, TestGate};

use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::SecretString;

const KEY: &str = "sk-secret-0123456789";
const ANSWER: &str = "<observation><title>It works</title></observation>";
/// Long enough for a loaded machine; no test waits for it.
const LONG: Duration = Duration::from_mins(1);
/// Deadline for servers that never answer, which is waited out.
const SHORT: Duration = Duration::from_millis(60);

const ASK: ModelRequest<'_> = ModelRequest {
    system: "You keep the memory.",
    so_far: "already kept: nothing",
    message: "<episode>the login</episode>",
    answer_tokens_max: 512,
    now: Millis(1_000_000_000_000),
};

type OpenClient = fn(&str) -> Box<dyn LanguageModel>;

/// Every HTTP provider, with this base URL.
const FACES: [(&str, OpenClient); 3] = [
    ("anthropic", |url| {
        let endpoint = ModelEndpoint::new(url, false).unwrap();
        let network = NetworkConfig::default();
        Box::new(AnthropicClient::new(&endpoint, "m-1", SecretString::new(KEY), &network).unwrap())
    }),
    ("openai", |url| {
        let endpoint = ModelEndpoint::new(&format!("{url}/v1"), false).unwrap();
        let network = NetworkConfig::default();
        Box::new(OpenAiClient::new(&endpoint, "m-1", SecretString::new(KEY), &network).unwrap())
    }),
    ("gemini", |url| {
        let endpoint = ModelEndpoint::new(url, false).unwrap();
        let network = NetworkConfig::default();
        Box::new(GeminiClient::new(&endpoint, "m-1", SecretString::new(KEY), &network).unwrap())
    }),
];

/// Runs one turn of the scripted model against each provider.
fn each(
    turn: impl Fn() -> ModelTurn,
    deadline: Duration,
    check: impl Fn(&str, Result<ModelReply, ModelError>),
) {
    for (name, open) in FACES {
        let server = ScriptedModel::start(ModelScript::new().turn(turn()));
        let result = open(&server.url()).answer(&ASK, deadline);
        let shown = format!("{result:?}");
        assert!(!shown.contains(KEY), "{name} tells its key: {shown}");
        check(name, result);
    }
}

#[test]
fn reply_has_usage() {
    let bill = rig::model::BilledUsage { input: 900, output: 70, cache_read: 0, cache_write: 0 };
    each(
        || ModelTurn::text(ANSWER).usage(bill),
        LONG,
        |name, result| {
            let answer = result.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(answer.text, ANSWER, "{name}");
            assert_eq!(answer.usage, Some(TokenUsage { input: 900, output: 70 }), "{name}");
        },
    );
}

#[test]
fn missing_usage_is_accepted() {
    each(
        || ModelTurn::text(ANSWER).without_usage(),
        LONG,
        |name, result| {
            let usage = result.unwrap_or_else(|e| panic!("{name}: {e}")).usage;
            // Anthropic's responses always report usage.
            assert!(usage.is_none() || name == "anthropic", "{name}: {usage:?}");
        },
    );
}

#[test]
fn request_carries_system_and_rolling_summary() {
    for (name, open) in FACES {
        let server = ScriptedModel::start(ModelScript::new().turn(ModelTurn::text(ANSWER)));
        open(&server.url()).answer(&ASK, LONG).unwrap();
        let asked = server.messages().remove(0);
        assert_eq!(asked.model(), "m-1", "{name}");
        assert_eq!(asked.system(), ASK.system, "{name}");
        let message = asked.last_user();
        assert!(
            message.starts_with("<so_far>\nalready kept: nothing\n</so_far>\n<episode>"),
            "{name}: {message}"
        );
        assert!(asked.body.to_string().contains("512"), "{name}: the answer is bounded");
        assert!(!asked.path.contains(KEY), "{name}: no key in the address");
        let headers = ["x-api-key", "authorization", "x-goog-api-key"];
        let sent = headers.iter().filter_map(|header| asked.header(header)).any(|v| v.contains(KEY));
        assert!(sent, "{name}: the key is in a header");
    }
}

#[test]
fn local_model_needs_no_key() {
    let server = ScriptedModel::start(ModelScript::new().turn(ModelTurn::text(ANSWER)));
    let endpoint = ModelEndpoint::new(&format!("{}/v1", server.url()), false).unwrap();
    let network = NetworkConfig::default();
    let mut model = OpenAiClient::new(&endpoint, "llama", SecretString::new(""), &network).unwrap();
    assert_eq!(model.answer(&ASK, LONG).unwrap().text, ANSWER);
    assert_eq!(server.messages()[0].header("authorization"), None);
}

#[test]
fn public_service_without_key_is_not_called() {
    let network = NetworkConfig::default();
    let anthropic = ModelEndpoint::new(AnthropicClient::BASE_URL, false).unwrap();
    let none = || SecretString::new("");
    assert!(matches!(AnthropicClient::new(&anthropic, "m", none(), &network), Err(ModelError::Auth { .. })));
    let gemini = ModelEndpoint::new(GeminiClient::BASE_URL, false).unwrap();
    assert!(matches!(GeminiClient::new(&gemini, "m", none(), &network), Err(ModelError::Auth { .. })));
    assert!(matches!(
        GeminiClient::new(&gemini, "m/../x", SecretString::new(KEY), &network),
        Err(ModelError::Misconfigured { .. })
    ));
}

#[test]
fn every_error_status_is_classified() {
    for (turn, want) in [
        (ModelTurn::error(401), "Auth"),
        (ModelTurn::error(403), "Auth"),
        (ModelTurn::error(402), "Quota"),
        (ModelTurn::error(404), "Misconfigured"),
        (ModelTurn::error(400), "Rejected"),
        (ModelTurn::error(413), "TooLong"),
        (ModelTurn::error(429), "Retry { after: None"),
        (ModelTurn::error(429).header("retry-after", "7"), "Retry { after: Some(7s)"),
        (
            ModelTurn::error(429).header("retry-after", "Sun, 09 Sep 2001 01:47:10 GMT"),
            "Retry { after: Some(30s)",
        ),
        (ModelTurn::error(429).header("retry-after", "7200"), "Quota { after: Some(7200s)"),
        (ModelTurn::error(500), "Retry"),
        (ModelTurn::error(503).header("retry-after", "3"), "Retry { after: Some(3s)"),
        (ModelTurn::error(529), "Retry"),
        (ModelTurn::error(302).header("location", "http://example.invalid/"), "Misconfigured"),
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
fn hanging_server_is_cut_off_at_the_deadline() {
    let faults: [fn() -> ResponseFault; 4] = [
        || ResponseFault::Hold(TestGate::shut()),
        || ResponseFault::StallAt(1, TestGate::shut()),
        || ResponseFault::StallAt(40, TestGate::shut()),
        || ResponseFault::StallAt(300, TestGate::shut()),
    ];
    for fault in faults {
        each(
            || ModelTurn::text(ANSWER).fault(fault()),
            SHORT,
            |name, result| {
                assert_eq!(result, Err(ModelError::TimedOut), "{name}");
            },
        );
    }
}

#[test]
fn truncated_response_is_an_error() {
    for (name, open) in FACES {
        let mut whole = 0;
        for bytes in 0.. {
            let turn = ModelTurn::text(ANSWER).fault(ResponseFault::CutAt(bytes));
            let server = ScriptedModel::start(ModelScript::new().turn(turn));
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
fn malformed_response_is_garbled() {
    let page = "<html><title>Sign in</title></html>";
    for fault in [
        ResponseFault::ContentType("text/html".into()),
        ResponseFault::ContentType("text/event-stream".into()),
        ResponseFault::Body(page.into()),
        ResponseFault::Body("{}".into()),
        ResponseFault::Body("[]".into()),
        ResponseFault::Body("null".into()),
        ResponseFault::Body("{\"content\": 3, \"choices\": 3, \"candidates\": 3}".into()),
        ResponseFault::Body("[".repeat(100_000)),
        ResponseFault::Body("{\"choices\":[{\"message\":{\"content\":\"cut".into()),
        ResponseFault::Empty,
    ] {
        each(
            || ModelTurn::text(ANSWER).fault(fault.clone()),
            LONG,
            |name, result| {
                assert!(matches!(result, Err(ModelError::Garbled { .. })), "{name} {fault:?}: {result:?}");
            },
        );
    }
}

#[test]
fn endless_body_is_read_up_to_the_limit() {
    each(
        || ModelTurn::text(ANSWER).fault(ResponseFault::Endless),
        LONG,
        |name, result| {
            let why = "the response exceeds the size limit".to_owned();
            assert_eq!(result, Err(ModelError::Garbled { why }), "{name}");
        },
    );
}

#[test]
fn refusal_is_reported_with_usage() {
    each(
        || ModelTurn::text("I will not.").stop(StopReason::Refusal),
        LONG,
        |name, result| {
            assert!(matches!(result, Err(ModelError::Refused { usage: Some(_) })), "{name}: {result:?}");
        },
    );
}

#[test]
fn empty_answer_is_passed_to_the_parser() {
    each(
        || ModelTurn::text(""),
        LONG,
        |name, result| {
            assert_eq!(result.unwrap_or_else(|e| panic!("{name}: {e}")).text, "", "{name}");
        },
    );
}

#[test]
fn length_limited_answer_is_passed_to_the_parser() {
    each(
        || ModelTurn::text("<observation><ti").stop(StopReason::MaxTokens),
        LONG,
        |name, result| {
            assert_eq!(result.unwrap().text, "<observation><ti", "{name}");
        },
    );
}

#[test]
fn closed_port_is_unreachable() {
    for (name, open) in FACES {
        let result = open("http://127.0.0.1:9").answer(&ASK, LONG);
        assert!(matches!(result, Err(ModelError::Unreachable { .. })), "{name}: {result:?}");
    }
}

#[test]
fn other_limit_field_is_tried_after_rejection() {
    let refusal = r#"{"error": {"code": "unsupported_parameter", "message": "use the other"}}"#;
    let refused = ModelTurn::text("").fault(ResponseFault::Answer(400, refusal.into()));
    let server = ScriptedModel::start(ModelScript::new().turn(refused).fallback(ModelTurn::text(ANSWER)));
    let endpoint = ModelEndpoint::new(&server.url(), false).unwrap();
    let mut model =
        OpenAiClient::new(&endpoint, "m", SecretString::new(""), &NetworkConfig::default()).unwrap();
    for _ in 0..2 {
        assert_eq!(model.answer(&ASK, LONG).unwrap().text, ANSWER);
    }
    let limits = |name: &str| -> Vec<bool> {
        server.messages().iter().map(|asked| asked.body[name].is_number()).collect()
    };
    assert_eq!(limits("max_tokens"), [true, false, false]);
    assert_eq!(limits("max_completion_tokens"), [false, true, true]);
}

#[test]
fn error_inside_a_200_response_is_found() {
    for (body, want) in [
        (r#"{"error": {"code": 429, "message": "slow down"}}"#, "Retry"),
        (r#"{"error": {"code": 402, "message": "no credit"}}"#, "Quota"),
        (r#"{"choices": [{"error": {"code": 502, "message": "upstream"}}]}"#, "Retry"),
        (r#"{"error": "model is loading"}"#, "Garbled"),
    ] {
        let turn = ModelTurn::text("").fault(ResponseFault::Body(body.into()));
        let server = ScriptedModel::start(ModelScript::new().turn(turn));
        let endpoint = ModelEndpoint::new(&server.url(), false).unwrap();
        let mut model =
            OpenAiClient::new(&endpoint, "m", SecretString::new(""), &NetworkConfig::default()).unwrap();
        let error = format!("{:?}", model.answer(&ASK, LONG).unwrap_err());
        assert!(error.starts_with(want), "{body}: {error}");
    }
}

#[test]
fn thinking_is_not_part_of_the_answer() {
    let gemini = r#"{"candidates": [{"finishReason": "STOP", "content": {"parts": [
        {"text": "let me think", "thought": true}, {"text": "said"}]}}],
        "usageMetadata": {"promptTokenCount": 5, "thoughtsTokenCount": 9, "candidatesTokenCount": 1}}"#;
    let turn = ModelTurn::text("").fault(ResponseFault::Body(gemini.into()));
    let server = ScriptedModel::start(ModelScript::new().turn(turn));
    let answer = FACES[2].1(&server.url()).answer(&ASK, LONG).unwrap();
    assert_eq!(answer, ModelReply { text: "said".into(), usage: Some(TokenUsage { input: 5, output: 10 }) });
    let server = ScriptedModel::start(ModelScript::new().turn(ModelTurn::text(ANSWER).thinking("hm")));
    let answer = FACES[0].1(&server.url()).answer(&ASK, LONG).unwrap();
    assert_eq!(answer.text, ANSWER);
}

#[test]
fn cached_tokens_are_counted() {
    let bill = rig::model::BilledUsage { input: 10, output: 3, cache_read: 1_000, cache_write: 200 };
    let server = ScriptedModel::start(ModelScript::new().turn(ModelTurn::text(ANSWER).usage(bill)));
    let answer = FACES[0].1(&server.url()).answer(&ASK, LONG).unwrap();
    assert_eq!(answer.usage, Some(TokenUsage { input: 1_210, output: 3 }));
}

#[test]
fn custom_roots_are_loaded_only_for_https() {
    let missing = NetworkConfig { roots: Some("/nowhere/roots.pem".into()), ..NetworkConfig::default() };
    let local = ModelEndpoint::new("http://127.0.0.1:1", false).unwrap();
    assert!(OpenAiClient::new(&local, "m", SecretString::new(""), &missing).is_ok());
    let remote = ModelEndpoint::new("https://127.0.0.1:1", false).unwrap();
    assert!(matches!(
        OpenAiClient::new(&remote, "m", SecretString::new(""), &missing),
        Err(ModelError::Misconfigured { .. })
    ));
}

/// An https URL on a server without TLS: the certificates are loaded and nothing is sent unencrypted.
#[test]
fn https_never_falls_back_to_plain_http() {
    let server = ScriptedModel::start(ModelScript::new());
    let endpoint = ModelEndpoint::new(&server.url().replace("http:", "https:"), false).unwrap();
    let network = NetworkConfig::default();
    let mut model = OpenAiClient::new(&endpoint, "m", SecretString::new(KEY), &network).unwrap();
    assert!(model.answer(&ASK, LONG).is_err());
    assert!(server.requests().is_empty());
}

#[test]
fn invalid_proxy_is_not_bypassed() {
    let network = |proxy: &str| {
        let json = serde_json::json!({ "proxy": proxy }).to_string();
        let settings = claude_mem_core::config::from_text(Some(&json), |_| None).settings;
        NetworkConfig::from_settings(&settings, std::path::Path::new("/data"))
    };
    let remote = ModelEndpoint::new("https://model.example", false).unwrap();
    let open = |proxy| OpenAiClient::new(&remote, "m", SecretString::new(""), &network(proxy));
    assert!(open("http://proxy.example:3128").is_ok() && open("").is_ok());
    assert!(matches!(open("ht!tp:/proxy"), Err(ModelError::Misconfigured { .. })));
    let network = network("ht!tp:/proxy");
    let local = ModelEndpoint::new("http://127.0.0.1:1", false).unwrap();
    assert!(OpenAiClient::new(&local, "m", SecretString::new(""), &network).is_ok());
}

/// A server whose queue of connections is full: the call ends before a connection exists.
#[test]
fn call_that_never_connected_costs_nothing() {
    use rustix::net::{AddressFamily, SocketFlags, SocketType};
    let flags = SocketFlags::CLOEXEC;
    let listener = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
    let any: std::net::SocketAddr = ([127, 0, 0, 1], 0).into();
    rustix::net::bind(&listener, &any).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let listener = std::net::TcpListener::from(listener);
    let address = listener.local_addr().unwrap();
    // The queue holds one connection; the kernel drops the handshakes of further ones.
    let mut held = Vec::new();
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        held.push(stream);
        assert!(held.len() < 64, "the queue never fills");
    }
    let endpoint = ModelEndpoint::new(&format!("http://{address}/v1"), false).unwrap();
    let network = NetworkConfig::default();
    let mut model = OpenAiClient::new(&endpoint, "m", SecretString::new(""), &network).unwrap();
    let error = model.answer(&ASK, Duration::from_millis(500)).unwrap_err();
    assert_eq!(error.cost(), crate::model::FailureCost::Nothing, "{error}");
}
