use super::{has_unbound_pronoun, refers_back};

#[test]
fn pronoun_of_the_first_clause_needs_another_sentence() {
    for unbound in
        ["The server has it in the `orders` table but does not send it", "`list.rs` reads them twice"]
    {
        assert!(has_unbound_pronoun(unbound), "{unbound}");
    }
    for bound in [
        "`Queue.push` does not fail on a full queue — it drops the job",
        "The reader keeps a cursor and moves it after every page",
        "A second index makes it possible to sort by date",
        "The job fails because it has no lease",
    ] {
        assert!(!has_unbound_pronoun(bound), "{bound}");
    }
}

#[test]
fn subordinate_clause_about_the_sentence_before_refers_back() {
    assert!(refers_back("While that's safe, it reads the file twice"));
    assert!(refers_back("If this flag is set, the queue waits"));
    assert!(!refers_back("While the queue waits, the reader reads the file twice"));
}
