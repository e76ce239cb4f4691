//! Notices about sharing with a team, each with the command that helps.

use crate::user_notice::UserNotice;
use claude_mem_core::clock::Millis;
use claude_mem_store::{StoreError, StoreReader};

/// A server may be unreachable this long before the user is notified.
const AWAY_SECONDS_MAX: i64 = 24 * 3_600;
/// Clocks that differ by more than this are worth a word.
const SKEW_MS_MAX: i64 = 5 * 60 * 1_000;

/// Problems of sharing; none without a team. Cheap, because every session start calls it.
pub fn team_notices(reads: &StoreReader<'_>, now: Millis) -> Result<Vec<UserNotice>, StoreError> {
    let health = reads.team_health()?;
    let mut found = Vec::new();
    if health.revoked {
        let what = "this machine was removed from its team; what others shared was removed here";
        found.push(UserNotice::new(what, "ask an administrator for a new link"));
        return Ok(found);
    }
    if let Some(since) = health.failing_since
        && !health.error.is_empty()
        && now > since.plus_seconds(AWAY_SECONDS_MAX)
    {
        found.push(UserNotice::new(
            format!("the team is not synchronised: {}", health.error),
            "claude-mem team sync",
        ));
    }
    if health.last_ok.is_some() && health.skew_ms.abs() > SKEW_MS_MAX {
        let minutes = health.skew_ms / 60_000;
        let what = format!("the clock of this machine differs from the team server's by {minutes} minutes");
        found.push(UserNotice::new(what, "set the clock of this machine"));
    }
    if health.quota_exceeded {
        let what = "today's quota of shared memories is used up; the rest is sent tomorrow";
        found.push(UserNotice::new(what, "claude-mem team status"));
    }
    if health.unknown_spaces > 0 {
        let what =
            format!("the team's server does not know {} of the shared projects", health.unknown_spaces);
        found.push(UserNotice::new(what, "claude-mem team share"));
    }
    Ok(found)
}

/// Problems with single memories, for `status` and `doctor`.
pub fn shared_row_notices(reads: &StoreReader<'_>) -> Result<Vec<UserNotice>, StoreError> {
    let mut found = Vec::new();
    let spaces = reads.space_healths()?;
    let refused: u64 = spaces.iter().map(|space| space.counts.refused).sum();
    if refused > 0 {
        found.push(UserNotice::new(
            format!("the team's server refused {}", count_memories(refused)),
            "claude-mem team status",
        ));
    }
    let held_back: u64 = spaces.iter().map(|space| space.counts.held_back).sum();
    if held_back > 0 {
        let memories = count_memories(held_back);
        let what = format!("not offered, because they read like instructions: {memories} of other members");
        found.push(UserNotice::new(what, "claude-mem team status"));
    }
    Ok(found)
}

fn count_memories(count: u64) -> String {
    if count == 1 { "1 memory".to_owned() } else { format!("{count} memories") }
}

#[cfg(test)]
mod tests {
    use claude_mem_store::{Store, TeamHealth};

    use super::*;

    const NOW: Millis = Millis(1_790_000_000_000);

    fn notices(health: &TeamHealth) -> Vec<UserNotice> {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(&dir.path().join("ours.db")).unwrap();
        store.save_team_health(health).unwrap();
        team_notices(&store.read(), NOW).unwrap()
    }

    #[test]
    fn each_problem_of_sharing_is_named_with_its_remedy() {
        let fine = TeamHealth { last_ok: Some(NOW), in_step: true, ..TeamHealth::default() };
        let hours_ago = |hours: i64| Some(NOW.plus_seconds(-hours * 3_600));
        let away = |hours| TeamHealth {
            error: "unreachable".to_owned(),
            failing_since: hours_ago(hours),
            ..fine.clone()
        };
        for (health, want) in [
            (TeamHealth::default(), None),
            (fine.clone(), None),
            (away(2), None),
            (away(30), Some("claude-mem team sync")),
            (TeamHealth { revoked: true, ..away(30) }, Some("ask an administrator for a new link")),
            (TeamHealth { skew_ms: 60_000, ..fine.clone() }, None),
            (
                TeamHealth { skew_ms: -365 * 86_400_000, ..fine.clone() },
                Some("set the clock of this machine"),
            ),
            (TeamHealth { quota_exceeded: true, ..fine.clone() }, Some("claude-mem team status")),
            (TeamHealth { unknown_spaces: 1, ..fine.clone() }, Some("claude-mem team share")),
        ] {
            let fixes: Vec<String> = notices(&health).into_iter().map(|notice| notice.fix).collect();
            assert_eq!(fixes, want.into_iter().map(str::to_owned).collect::<Vec<_>>(), "{health:?}");
        }
    }
}
