use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::faces_tests::{exchange, post};
use super::{ModelScript, ModelTurn, ResponseFault, ScriptedModel, TestGate};

const PATHS: [&str; 3] = ["/v1/messages", "/v1/chat/completions", "/v1beta/models/g:generateContent"];

fn model(turn: ModelTurn) -> ScriptedModel {
    ScriptedModel::start(ModelScript::new().fallback(turn))
}

#[test]
fn error_body_follows_each_api() {
    for status in [400, 401, 403, 404, 429, 500, 503, 529] {
        let model = model(ModelTurn::error(status).header("retry-after", "7"));
        for path in PATHS {
            let answer = post(&model, path, &json!({}));
            assert!(answer.head.starts_with(&format!("HTTP/1.1 {status} ")), "{}", answer.head);
            assert!(answer.head.contains("\r\nretry-after: 7"), "{}", answer.head);
            assert_eq!(answer.json()["error"]["message"], "scripted error");
        }
    }
}

#[test]
fn answer_is_cut_at_any_byte() {
    for stream in [false, true] {
        let body = json!({"stream": stream}).to_string();
        let whole = model(ModelTurn::text("a few words"));
        let wire = exchange(&whole, "POST", "/v1/messages", &body);
        assert_eq!(wire.len(), whole.messages()[0].answer_bytes);
        for cut in [0, 1, wire.len() / 2, wire.len() - 1, wire.len(), wire.len() + 1] {
            let model = model(ModelTurn::text("a few words").fault(ResponseFault::CutAt(cut)));
            let got = exchange(&model, "POST", "/v1/messages", &body);
            assert_eq!(got.len(), cut.min(wire.len()), "cut at {cut}, stream {stream}");
        }
    }
}

#[test]
fn stalled_answer_continues_when_gate_opens() {
    let gate = TestGate::shut();
    let model = model(ModelTurn::text("slow").fault(ResponseFault::StallAt(12, gate.clone())));
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    write!(stream, "POST /v1/messages HTTP/1.1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    gate.open();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains(r#""text":"slow""#), "{rest}");
}

#[test]
fn held_connection_ends_with_gate_or_model() {
    let gate = TestGate::shut();
    let by_gate = model(ModelTurn::default().fault(ResponseFault::Hold(gate.clone())));
    let by_drop = model(ModelTurn::default().fault(ResponseFault::Hold(TestGate::shut())));
    std::thread::scope(|scope| {
        for model in [&by_gate, &by_drop] {
            let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
            scope.spawn(move || {
                write!(stream, "POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n").unwrap();
                let mut nothing = Vec::new();
                let _ = stream.read_to_end(&mut nothing);
                assert_eq!(nothing, b"");
            });
            model.wait_for(1);
        }
        gate.open();
        drop(by_drop);
    });
}

#[test]
fn wrong_bodies_are_sent_as_scripted() {
    let of = |fault: ResponseFault| {
        post(&model(ModelTurn::text("right").fault(fault)), "/v1/messages", &json!({}))
    };
    let wrong_type = of(ResponseFault::ContentType("text/html".to_owned()));
    assert!(wrong_type.head.contains("content-type: text/html\r\n"), "{}", wrong_type.head);
    assert_eq!(wrong_type.json()["content"][0]["text"], "right");
    let empty = of(ResponseFault::Empty);
    assert!(empty.head.contains("content-length: 0"), "{}", empty.head);
    assert_eq!(empty.body, "");
    assert_eq!(of(ResponseFault::Body("<html>".to_owned())).body, "<html>");
}

#[test]
fn endless_body_lasts_while_it_is_read() {
    let model = model(ModelTurn::text("").fault(ResponseFault::Endless));
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    write!(stream, "POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n").unwrap();
    let mut much = vec![0; 1 << 20];
    stream.read_exact(&mut much).unwrap();
    assert!(much.ends_with(b"aaaa") || much.ends_with(b"\r\n"));
}
