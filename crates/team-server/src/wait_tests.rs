use super::*;

fn team(number: u128) -> TeamId {
    TeamId(Uuid::from_u128(number))
}

fn space(number: u128) -> SpaceId {
    SpaceId(Uuid::from_u128(number))
}

/// Whether the poll has been woken, without waiting.
async fn is_woken(ticket: &WaitTicket) -> bool {
    tokio::select! {
        biased;
        () = ticket.woken() => true,
        () = std::future::ready(()) => false,
    }
}

#[tokio::test]
async fn poll_is_woken_by_another_head_only() {
    let hub = Arc::new(WaitHub::default());
    let ticket = hub.register(team(1), &[(space(1), 5), (space(2), 0)]);
    hub.announce(team(1), space(1), 5);
    hub.announce(team(2), space(1), 9);
    hub.announce(team(1), space(3), 9);
    assert!(!is_woken(&ticket).await);
    hub.announce(team(1), space(2), 1);
    assert!(is_woken(&ticket).await);
    // A restored database goes back.
    hub.announce(team(1), space(1), 4);
    assert!(is_woken(&ticket).await);
}

#[tokio::test]
async fn dropped_polls_leave_nothing_behind() {
    let hub = Arc::new(WaitHub::default());
    let first = hub.register(team(1), &[(space(1), 0)]);
    let second = hub.register(team(1), &[(space(1), 0), (space(2), 0)]);
    drop(first);
    hub.announce(team(1), space(1), 1);
    assert!(is_woken(&second).await);
    drop(second);
    assert!(hub.waited_for().is_empty());
}
