//! The kind of work that a sentence describes, by its verbs.

use claude_mem_core::memory::ObservationType;

const FIX: &[&str] = &[
    "fix",
    "fixes",
    "fixed",
    "fixing",
    "bugfix",
    "hotfix",
    "correct",
    "corrects",
    "corrected",
    "repair",
    "resolve",
    "resolves",
    "resolved",
    "prevent",
    "prevents",
    "avoid",
    "stop",
    "stops",
    "patch",
    "restore",
    "revert",
    "behebe",
    "behebt",
    "behoben",
    "korrigiert",
    "korrigiere",
    "repariert",
    "corrige",
    "corregí",
    "corregido",
    "arregla",
    "arreglado",
    "arreglé",
    "corrigé",
    "répare",
    "修复",
    "修正",
];
const ADD: &[&str] = &[
    "add",
    "adds",
    "added",
    "adding",
    "implement",
    "implements",
    "implemented",
    "introduce",
    "introduces",
    "introduced",
    "support",
    "supports",
    "allow",
    "allows",
    "enable",
    "enables",
    "create",
    "creates",
    "created",
    "expose",
    "new",
    "feature",
    "füge",
    "hinzugefügt",
    "neu",
    "ergänzt",
    "eingeführt",
    "implementiert",
    "erstellt",
    "añade",
    "añadí",
    "añadido",
    "agrega",
    "agregado",
    "implementé",
    "implementado",
    "ajoute",
    "ajouté",
    "implémente",
    "implémenté",
    "新增",
    "添加",
    "实现",
    "追加",
    "実装",
];
const REFACTOR: &[&str] = &[
    "refactor",
    "refactors",
    "refactored",
    "rename",
    "renames",
    "renamed",
    "move",
    "moves",
    "moved",
    "extract",
    "extracts",
    "extracted",
    "simplify",
    "simplifies",
    "simplified",
    "clean",
    "cleanup",
    "split",
    "splits",
    "restructure",
    "reorganize",
    "reorganise",
    "inline",
    "dedupe",
    "deduplicate",
    "optimise",
    "optimize",
    "optimised",
    "optimized",
    "speed",
    "umbenannt",
    "ausgelagert",
    "vereinfacht",
    "verschoben",
    "refactorisé",
    "renommé",
    "extrait",
    "simplifié",
    "renombré",
    "simplifiqué",
    "重构",
    "重命名",
    "リファクタ",
    "リネーム",
];

/// The kind of work that the first such verb names.
pub(super) fn by_verb(text: &str) -> Option<ObservationType> {
    // Names from code are no verbs: `create_shipment`.
    let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let lower = prose.to_lowercase();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(14) {
        if FIX.contains(&word) {
            return Some(ObservationType::BUGFIX);
        }
        if ADD.contains(&word) {
            return Some(ObservationType::FEATURE);
        }
        if REFACTOR.contains(&word) {
            return Some(ObservationType::REFACTOR);
        }
    }
    unspaced(&lower)
}

/// The same for scripts without spaces.
fn unspaced(lower: &str) -> Option<ObservationType> {
    let holds = |words: &[&str]| {
        words.iter().any(|word| {
            !word.is_ascii()
                && word.chars().count() <= 5
                && lower.contains(word)
                && word.chars().all(|c| c as u32 > 0x3000)
        })
    };
    [(FIX, ObservationType::BUGFIX), (ADD, ObservationType::FEATURE), (REFACTOR, ObservationType::REFACTOR)]
        .into_iter()
        .find(|(words, _)| holds(words))
        .map(|(_, kind)| kind)
}

/// The kind that a conventional commit's prefix names.
pub(super) fn by_prefix(prefix: &str) -> Option<ObservationType> {
    Some(match prefix {
        "feat" | "feature" => ObservationType::FEATURE,
        "fix" | "bugfix" | "hotfix" | "revert" | "security" => ObservationType::BUGFIX,
        "refactor" | "perf" | "style" => ObservationType::REFACTOR,
        "docs" | "doc" | "test" | "tests" | "chore" | "build" | "ci" | "deps" | "release" | "i18n" => {
            ObservationType::CHANGE
        }
        "decision" | "adr" | "policy" => ObservationType::DECISION,
        _ => return None,
    })
}
