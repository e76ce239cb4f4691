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
const LINES_MAX: usize = 24;
const LINE_WORTH: f32 = 0.6;
/// The description says what the whole file is about.
const DESCRIPTION_WORTH: f32 = 0.8;
const DESCRIPTION_WORDS_MIN: usize = 4;

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
    let (description, body) = without_front_matter(&added);
    let document = TextDocument::read(&body.join("\n"));
    let lines = document.sentences.iter().filter(|sentence| {
        matches!(sentence.block, TextBlock::Prose | TextBlock::Item)
            && content_words(&sentence.text).len() >= 5
            && !sentence.text.ends_with(':')
    });
    let line = |text: &str, section: &str, worth: f32| {
        let mut claim = Claim::new(ClaimKind::MemoryLine, TextSource::MemoryFile, capitalised(text), at);
        claim.group = group;
        section.clone_into(&mut claim.section);
        claim.worth = worth;
        claim
    };
    let described = description.filter(|text| content_words(text).len() >= DESCRIPTION_WORDS_MIN);
    let described = described.map(|text| line(text, "", DESCRIPTION_WORTH));
    let lines = lines.take(LINES_MAX).map(|sentence| line(&sentence.text, &sentence.section, LINE_WORTH));
    described.into_iter().chain(lines).collect()
}

/// The description in the front matter, and the lines after it: `name`, `type` and the like are for programs.
fn without_front_matter<'t>(lines: &[&'t str]) -> (Option<&'t str>, Vec<&'t str>) {
    let is_rule = |line: &&str| line.trim() == "---";
    let mut rest = lines.iter().copied().skip_while(|line| line.trim().is_empty());
    if !rest.next().as_ref().is_some_and(is_rule) {
        return (None, lines.to_vec());
    }
    let matter: Vec<&str> = rest.by_ref().take_while(|line| !is_rule(line)).collect();
    let described = matter.iter().find_map(|line| line.trim().strip_prefix("description:"));
    (described.map(|text| text.trim().trim_matches(['"', '\''])), rest.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_gives_its_description_only() {
        let text = "---\nname: skill-names\ndescription: Skill files must keep the fields that every agent reads\n\
            type: project\n---\n\nThe loader of the second agent rejects unknown fields in `SKILL.md`.\n";
        let change = PatchedFile::written(".claude/memory/skill-names.md", text);
        let claims = memory_line_claims(&change, Millis(1), 1);
        let texts: Vec<&str> = claims.iter().map(|claim| claim.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "Skill files must keep the fields that every agent reads",
                "The loader of the second agent rejects unknown fields in `SKILL.md`."
            ]
        );
        assert!(claims[0].worth > claims[1].worth);
    }
}
