//! Where a secret is, and its mask.

use super::rules::RuleId;

const MASK_START: &str = "[redacted:";
const MASK_END: &str = "]";

/// A secret at `text[start..end]`, and the rule that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub start: usize,
    pub end: usize,
    pub rule: RuleId,
}

impl SecretSpan {
    pub(super) fn mask_bytes(&self) -> usize {
        MASK_START.len() + self.rule.name().len() + MASK_END.len()
    }

    pub(super) fn push_mask(&self, out: &mut String) {
        out.push_str(MASK_START);
        out.push_str(self.rule.name());
        out.push_str(MASK_END);
    }
}
