//! Test helpers: an encoder without a model, and stores with rows.

use std::path::Path;

use super::encoder::TextEncoder;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ClientSessionId, ObservationId, ProjectId, SessionId};
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_store::{NewRowContext, NewSession, Store, StoreError, StoreWriter};

/// Embeds texts as bags of words: each word adds a pseudo-random vector, so texts that share words
/// are similar.
pub(super) struct BagOfWordsEncoder;

impl TextEncoder for BagOfWordsEncoder {
    fn id(&self) -> &'static str {
        "word-bag"
    }

    fn width(&self) -> usize {
        256
    }

    fn embed_query(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; 256];
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            let mut seed = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
            for number in &mut vector {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *number += (seed >> 40) as f32 / (1 << 23) as f32 - 1.0;
            }
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9);
        vector.iter().map(|x| x / length).collect()
    }

    fn embed_documents(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        texts.iter().map(|text| self.embed_query(text)).collect()
    }
}

pub(super) fn project(tx: &StoreWriter<'_>, name: &str) -> Result<ProjectId, StoreError> {
    let hint = ProjectHint {
        name: name.into(),
        keys: vec![format!("path:/src/{name}")],
        root: format!("/src/{name}"),
        branch: None,
    };
    tx.ensure_project(&hint, Millis(1))
}

pub(super) fn session(tx: &StoreWriter<'_>, project: ProjectId, name: &str) -> Result<SessionId, StoreError> {
    tx.ensure_session(&NewSession {
        client: "claude-code",
        client_session: &ClientSessionId(name.into()),
        project: Some(project),
        branch: None,
        transcript_path: None,
        origin: Origin::Agent,
        import_run: None,
        at: Millis(1),
    })
}

pub(super) fn observation(title: &str, narrative: &str, at: i64) -> NewObservation {
    NewObservation::from_text(
        ObservationText {
            narrative: narrative.into(),
            ..ObservationText::new(ObservationType::BUGFIX, title)
        },
        Origin::Agent,
        Millis(at),
    )
}

/// A store with one observation per title in one project, a second apart.
pub(super) fn store_with_titles(dir: &Path, titles: &[&str]) -> (Store, ProjectId, Vec<ObservationId>) {
    let mut store = Store::open(&dir.join("claude-mem.db")).unwrap();
    let (project, ids) = store
        .write(|tx| {
            let project = project(tx, "shop")?;
            let place = NewRowContext { project: Some(project), made_by: "test", ..NewRowContext::default() };
            let ids = titles
                .iter()
                .enumerate()
                .map(|(at, title)| {
                    let new = observation(title, "", 1_000 * at as i64);
                    tx.create_observation(&new, &place)
                })
                .collect::<Result<Vec<_>, _>>()?;
            Ok((project, ids))
        })
        .unwrap();
    (store, project, ids)
}
