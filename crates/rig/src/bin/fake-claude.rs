//! The fake `claude -p --input-format stream-json`; see `rig::fake_claude`.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rig::fake_claude::{FakeClaudeEvent, FakeClaudeScript, FakeClaudeStep, SCRIPT, record_event};
use serde_json::{Value, json};

fn main() -> io::Result<ExitCode> {
    let args: Vec<String> = std::env::args().collect();
    let dir = link_directory(&args[0]);
    let play: FakeClaudeScript = serde_json::from_str(&std::fs::read_to_string(dir.join(SCRIPT))?)?;
    let pid = std::process::id();
    let session = session_id(&args, pid);
    record_event(&dir, &FakeClaudeEvent::Start { pid, args, env: std::env::vars().collect() })?;
    if let Some((code, why)) = play.refuses {
        eprintln!("{why}");
        return Ok(ExitCode::from(code as u8));
    }
    for line in io::stdin().lock().lines() {
        let text = message_text(&serde_json::from_str(&line?)?);
        let number = record_event(&dir, &FakeClaudeEvent::Message { pid, text })?;
        let step = play.steps.get(number).unwrap_or(&play.otherwise);
        if let Some(code) = perform_step(step, &session)? {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The directory of the link that started this program, looked up on the PATH if it was started by name.
fn link_directory(name: &str) -> PathBuf {
    let given = Path::new(name);
    let found = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
    };
    let link = if name.contains('/') { Some(given.to_path_buf()) } else { found() };
    link.as_deref().and_then(Path::parent).unwrap_or(Path::new(".")).to_path_buf()
}

fn session_id(args: &[String], pid: u32) -> String {
    let named = args.windows(2).find(|pair| pair[0] == "--session-id" || pair[0] == "--resume");
    named.map_or_else(|| format!("00000000-0000-4000-8000-{pid:012}"), |pair| pair[1].clone())
}

fn message_text(message: &Value) -> String {
    match &message["message"]["content"] {
        Value::String(text) => text.clone(),
        blocks => {
            let texts = blocks.as_array().into_iter().flatten();
            texts.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Performs one step. `Some(code)` means that the program exits here.
fn perform_step(step: &FakeClaudeStep, session: &str) -> io::Result<Option<ExitCode>> {
    match step {
        FakeClaudeStep::Answer { text, input_tokens, output_tokens } => {
            let usage = json!({
                "input_tokens": input_tokens, "output_tokens": output_tokens,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            });
            print_json(&init(session))?;
            print_json(&assistant(session, text, &usage))?;
            print_json(&result(session, text, &usage, None))?;
        }
        FakeClaudeStep::ApiError { status } => {
            let text = format!("API Error: {status} scripted error");
            let usage = json!({"input_tokens": 0, "output_tokens": 0});
            print_json(&init(session))?;
            print_json(&json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 1,
                "error_status": status, "session_id": session}))?;
            print_json(&assistant(session, &text, &usage))?;
            print_json(&result(session, &text, &usage, Some(*status)))?;
        }
        FakeClaudeStep::Garbage { text } => print_raw(&format!("{text}\n"))?,
        FakeClaudeStep::Exit { code } => return Ok(Some(ExitCode::from(*code as u8))),
        FakeClaudeStep::ExitMidway { code } => {
            let line = assistant(session, "this is cut", &Value::Null).to_string();
            print_json(&init(session))?;
            print_raw(&line[..line.len() / 2])?;
            return Ok(Some(ExitCode::from(*code as u8)));
        }
        FakeClaudeStep::Hang => {}
        FakeClaudeStep::Deaf => loop {
            std::thread::park();
        },
        FakeClaudeStep::Endless => loop {
            print_raw(&"a".repeat(4096))?;
        },
    }
    Ok(None)
}

fn init(session: &str) -> Value {
    json!({
        "type": "system", "subtype": "init", "session_id": session, "cwd": "/", "tools": [],
        "mcp_servers": [], "model": "claude-haiku-4-5", "permissionMode": "default",
        "apiKeySource": "none", "claude_code_version": rig::client::CURRENT,
    })
}

fn assistant(session: &str, text: &str, usage: &Value) -> Value {
    let message = json!({
        "id": "msg_fake", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
        "content": [{"type": "text", "text": text}], "stop_reason": null, "usage": usage,
    });
    json!({"type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": session})
}

/// Errors have the subtype "success" too: only `is_error` differs.
fn result(session: &str, text: &str, usage: &Value, error: Option<u16>) -> Value {
    json!({
        "type": "result", "subtype": "success", "is_error": error.is_some(),
        "api_error_status": error, "result": text, "usage": usage, "session_id": session,
        "num_turns": 1, "duration_ms": 1, "duration_api_ms": 1, "total_cost_usd": 0.0,
        "permission_denials": [], "terminal_reason": if error.is_some() { "api_error" } else { "completed" },
    })
}

fn print_json(value: &Value) -> io::Result<()> {
    print_raw(&format!("{value}\n"))
}

fn print_raw(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
