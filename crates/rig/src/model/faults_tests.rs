use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::faces_tests::{exchange, post};
use super::{Fault, Gate, Script, ScriptedModel, Turn};

const PATHS: [&str; 3] = [
    "/v1/messages",
    "/v1/chat/completions",
    "/v1beta/models/g:generateContent",
];

fn model(turn: Turn) -> ScriptedModel {
    ScriptedModel::start(Script::new().otherwise(turn))
}

#[test]
fn every_api_has_its_own_error_body_for_a_status() {
    for status in [400, 401, 403, 404, 429, 500, 503, 529] {
        let model = model(Turn::error(status).header("retry-after", "7"));
        for path in PATHS {
            let answer = post(&model, path, &json!({}));
            assert!(
                answer.head.starts_with(&format!("HTTP/1.1 {status} ")),
                "{}",
                answer.head
            );
            assert!(
                answer.head.contains("\r\nretry-after: 7"),
                "{}",
                answer.head
            );
            assert_eq!(answer.json()["error"]["message"], "scripted error");
        }
    }
}

#[test]
fn an_answer_can_be_cut_at_every_byte() {
    for stream in [false, true] {
        let body = json!({"stream": stream}).to_string();
        let whole = model(Turn::text("a few words"));
        let wire = exchange(&whole, "POST", "/v1/messages", &body);
        assert_eq!(wire.len(), whole.messages()[0].answer_bytes);
        for cut in [
            0,
            1,
            wire.len() / 2,
            wire.len() - 1,
            wire.len(),
            wire.len() + 1,
        ] {
            let model = model(Turn::text("a few words").fault(Fault::CutAt(cut)));
            let got = exchange(&model, "POST", "/v1/messages", &body);
            assert_eq!(
                got.len(),
                cut.min(wire.len()),
                "cut at {cut}, stream {stream}"
            );
        }
    }
}

#[test]
fn a_stalled_answer_goes_on_when_the_test_says_so() {
    let gate = Gate::shut();
    let model = model(Turn::text("slow").fault(Fault::StallAt(12, gate.clone())));
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    write!(
        stream,
        "POST /v1/messages HTTP/1.1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    )
    .unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    gate.open();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains(r#""text":"slow""#), "{rest}");
}

#[test]
fn a_held_connection_ends_with_its_gate_or_with_the_model() {
    let gate = Gate::shut();
    let by_gate = model(Turn::default().fault(Fault::Hold(gate.clone())));
    let by_drop = model(Turn::default().fault(Fault::Hold(Gate::shut())));
    std::thread::scope(|scope| {
        for model in [&by_gate, &by_drop] {
            let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
            scope.spawn(move || {
                write!(
                    stream,
                    "POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n"
                )
                .unwrap();
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
fn bodies_can_be_wrong_in_every_way() {
    let of = |fault: Fault| {
        post(
            &model(Turn::text("right").fault(fault)),
            "/v1/messages",
            &json!({}),
        )
    };
    let wrong_type = of(Fault::ContentType("text/html".to_owned()));
    assert!(
        wrong_type.head.contains("content-type: text/html\r\n"),
        "{}",
        wrong_type.head
    );
    assert_eq!(wrong_type.json()["content"][0]["text"], "right");
    let empty = of(Fault::Empty);
    assert!(empty.head.contains("content-length: 0"), "{}", empty.head);
    assert_eq!(empty.body, "");
    assert_eq!(of(Fault::Body("<html>".to_owned())).body, "<html>");
}

#[test]
fn an_endless_body_lasts_as_long_as_somebody_reads() {
    let model = model(Turn::text("").fault(Fault::Endless));
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    write!(
        stream,
        "POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n"
    )
    .unwrap();
    let mut much = vec![0; 1 << 20];
    stream.read_exact(&mut much).unwrap();
    assert!(much.ends_with(b"aaaa") || much.ends_with(b"\r\n"));
}
