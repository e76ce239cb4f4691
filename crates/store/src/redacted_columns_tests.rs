//! A caller that forgets to redact: no long text reaches the file raw.

use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::memory::{
    AccountText, NewObservation, NewOpenItem, NewSummary, ObservationText, ObservationType, Origin,
    SessionAccount, SummaryText,
};

#[test]
#[allow(clippy::too_many_lines, reason = "one line per column")]
fn long_texts_are_stored_redacted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("claude-mem.db");
    let mut store = Store::open(&path).unwrap();
    // Built at run time, so that no scanner takes this file for a leak.
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap());
    let raw = format!("the token is {token}, <private>{token}</private>");
    let list = || vec![raw.clone()];
    let (text, at) = (raw.as_str(), Millis(1));
    let observation = NewObservation::from_text(
        ObservationText {
            subtitle: raw.clone(),
            narrative: raw.clone(),
            facts: list(),
            concepts: list(),
            files_read: list(),
            files_modified: list(),
            ..ObservationText::new(ObservationType::BUGFIX, raw.clone())
        },
        Origin::Agent,
        at,
    );
    let summary = NewSummary {
        text: SummaryText {
            request: raw.clone(),
            investigated: raw.clone(),
            learned: raw.clone(),
            completed: raw.clone(),
            next_steps: raw.clone(),
            notes: raw.clone(),
            files_read: list(),
            files_edited: list(),
        },
        created_at: at,
        discovery_tokens: 1,
    };
    let account = SessionAccount {
        text: AccountText {
            purpose: raw.clone(),
            done: list(),
            learned: list(),
            decided: list(),
            checked: list(),
            open: list(),
            files_edited: list(),
        },
        at,
    };
    // A row from a team, and one from a file.
    let record = |title: &str| -> ObservationRecord {
        let fields = serde_json::json!({
            "uid": claude_mem_core::ids::PublicId::new(), "type": "bugfix", "title": format!("{title}: {raw}"),
            "subtitle": raw, "narrative": raw, "facts": [raw], "concepts": [raw], "files_read": [raw],
            "files_modified": [raw], "branch": raw, "made_by": raw, "created_at": at,
        });
        serde_json::from_value(fields).unwrap()
    };
    let received_account: AccountRecord = serde_json::from_value(serde_json::json!({
        "uid": claude_mem_core::ids::PublicId::new(), "session": claude_mem_core::ids::PublicId::new(), "for": raw,
        "done": [raw], "learned": [raw], "decided": [raw], "checked": [raw], "open": [raw], "files_edited": [raw],
        "branch": raw, "made_by": raw, "created_at": at,
    }))
    .unwrap();
    let state = serde_json::json!({"claims": [{"key": "k1", "text": raw}]}).to_string();
    store
        .write(|tx| {
            let hint = ProjectHint {
                name: "shop".into(),
                keys: vec!["path:/src/shop".into()],
                root: "/src/shop".into(),
                branch: None,
            };
            let project = Some(tx.ensure_project(&hint, at)?);
            let client_session = ClientSessionId("s1".into());
            let session = tx.ensure_session(&NewSession {
                project,
                ..NewSession::new("claude-code", &client_session, at)
            })?;
            let place = NewRowContext { session: Some(session), project, ..Default::default() };
            tx.create_prompt(&NewPrompt {
                session,
                project,
                prompt_id: None,
                text,
                private: false,
                origin: Origin::User,
                import_run: None,
                at,
            })?;
            tx.create_final_message(&NewFinalMessage {
                session,
                project,
                prompt_number: 1,
                text,
                agent_id: None,
                agent_type: None,
                origin: Origin::Agent,
                import_run: None,
                at,
            })?;
            let id = tx.create_observation(&observation, &place)?;
            tx.update_observation(id, &observation, MemoryLevel::Project, 1, at)?;
            let edit =
                ObservationEdit { title: Some(raw.clone()), facts: Some(list()), ..Default::default() };
            tx.edit_observation(id, &edit, at)?;
            tx.create_summary(&summary, session, &place)?;
            let received = TeamPlace { member: None, session: None, project, held_back: false };
            let known = tx.put_team_observation(&record("Received"), None, received)?;
            tx.put_team_observation(&record("Received again"), known, received)?;
            let elsewhere = tx.ensure_team_session(received_account.session, None, project, None, at)?;
            let known = tx.put_team_account(&received_account, None, elsewhere, received)?;
            tx.put_team_account(&received_account, known, elsewhere, received)?;
            let import_run = tx.start_import("json", "memories.jsonl", at)?;
            let target = ImportTarget { session: Some(session), project, import_run };
            tx.import_observation(&record("Imported"), target)?;
            tx.set_session_account(session, &account, &place)?;
            let item = NewOpenItem { claim: "k1".into(), text: raw.clone(), at, closed: false };
            tx.set_open_items(session, &[item], &place)?;
            tx.append_session_claims(session, &StoredClaims { body: state.clone(), by_model: false }, None)?;
            tx.set_session_carry(session, &state)?;
            tx.set_session_rolling_summary(session, text)?;
            tx.set_meta("notice", text)?;
            tx.reserve_spend("2026-01-31", None, text, text, "compress", 1, at)?;
            tx.set_transcript_position(
                &TranscriptPosition {
                    path: format!("/home/user/{token}.jsonl"),
                    client: "claude-code".into(),
                    session: token.clone(),
                    offset_bytes: 1,
                    state: state.clone(),
                },
                at,
            )?;
            assert!(tx.transcript_position(&format!("/home/user/{token}.jsonl"))?.is_some(), "found again");
            assert!(tx.observation(id)?.text.title.starts_with("the token is [redacted:"), "the rest stays");
            Ok(())
        })
        .unwrap();
    store.close().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let wal = std::fs::read(claude_mem_core::paths::with_suffix(&path, "-wal")).unwrap_or_default();
    let secret = token[8..].to_lowercase().into_bytes();
    let found = [bytes, wal].concat().to_ascii_lowercase();
    assert!(!found.windows(secret.len()).any(|window| window == secret), "a long text was stored raw");
}
