//! Lines that the agent adds to files made for remembering: CLAUDE.md, AGENTS.md, MEMORY.md, decision records.

use claude_mem_core::clock::Millis;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind};
use crate::patch::PatchedFile;
use crate::sentences::{TextBlock, TextDocument};
use crate::text::{capitalised, content_words};

const NAMES: &[&str] =
    &["claude.md", "agents.md", "memory.md", "gemini.md", ".cursorrules", "learnings.md", "gotchas.md"];
const FOLDERS: &[&str] = &[".learnings/", "docs/adr/", "adr/", "docs/decisions/", "decisions/", "/memory/"];
/// Lines of one edit that are kept.
const LINES_MAX: usize = 12;

pub(crate) fn is_memory_file(path: &str) -> bool {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    NAMES.contains(&name) || FOLDERS.iter().any(|folder| lower.starts_with(folder) || lower.contains(folder))
}

/// Extracts the lines that a change adds to a memory file.
pub(crate) fn memory_line_claims(change: &PatchedFile, at: Millis, group: u32) -> Vec<Claim> {
    if !is_memory_file(&change.path) {
        return Vec::new();
    }
    let added: Vec<&str> = change.added().collect();
    let document = TextDocument::read(&added.join("\n"));
    let lines = document.sentences.iter().filter(|sentence| {
        matches!(sentence.block, TextBlock::Prose | TextBlock::Item)
            && content_words(&sentence.text).len() >= 5
            && !sentence.text.ends_with(':')
    });
    lines
        .take(LINES_MAX)
        .map(|sentence| {
            let mut claim =
                Claim::new(ClaimKind::MemoryLine, TextSource::MemoryFile, capitalised(&sentence.text), at);
            claim.group = group;
            claim.section.clone_from(&sentence.section);
            claim.worth = 0.6;
            claim
        })
        .collect()
}
