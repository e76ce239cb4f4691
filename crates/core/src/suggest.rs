//! Suggests the name that a mistyped one was probably meant to be.

/// `; did you mean context_tokens?`, or an empty string if no name is near enough.
pub fn did_you_mean<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> String {
    let typed = typed.to_lowercase();
    names
        .map(|name| (strsim::damerau_levenshtein(name, &typed), name))
        .min()
        .filter(|(distance, name)| *distance * 3 <= name.len())
        .map_or_else(String::new, |(_, name)| format!("; did you mean {name}?"))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn only_a_near_name_is_suggested() {
        let names = || ["bugfix", "decision", "feature"].into_iter();
        assert_eq!(did_you_mean("Bugfx", names()), "; did you mean bugfix?");
        assert_eq!(did_you_mean("nonsense", names()), "");
    }
}
