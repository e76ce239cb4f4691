use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, PublicId, SessionId};
use claude_mem_core::memory::AccountText;

fn account(checked: &[&str]) -> AccountRow {
    AccountRow {
        id: AccountId(1),
        uid: PublicId::new(),
        session: SessionId(1),
        project: None,
        text: AccountText {
            checked: checked.iter().map(|line| (*line).to_owned()).collect(),
            ..AccountText::default()
        },
        branch: None,
        origin: Origin::Agent,
        made_by: "local".into(),
        read_tokens: 0,
        created_at: Millis(0),
        member: None,
        held_back: false,
    }
}

#[test]
fn check_of_several_sessions_is_a_procedure() {
    let accounts = [
        account(&["`npm test`: 12 passed", "`tsc`: passes"]),
        account(&["`npm test`: 3 failed", "`tsc`: passes", "`tsc`: passes"]),
        account(&["`npm test`: 9 passed", "`tsc`: passes", "`once`: passes"]),
    ];
    assert_eq!(repeated_checks(&accounts), [("tsc".to_owned(), 3), ("npm test".to_owned(), 2)]);
}

#[test]
fn known_lines_stay_within_the_budget() {
    let checks = [("npm test".to_owned(), 4)];
    let (text, told) = render_known(&[], &checks, 100);
    assert_eq!(
        (text.as_str(), told),
        ("\n## Known about working here\n- Checks that passed: `npm test` (4 sessions)\n", 0)
    );
    assert_eq!(render_known(&[], &checks, 3), (String::new(), 0));
}

#[test]
fn place_below_another_is_the_same_place() {
    assert!(
        is_same_place("tmp/clones", "tmp/clones/run-7") && is_same_place("tmp/clones/run-7", "tmp/clones")
    );
    assert!(is_same_place("tmp/clones", "tmp/clones") && !is_same_place("tmp/clones", "tmp/clones-old"));
}
