use super::*;
use crate::testing::{observation, project};
use claude_mem_store::{NewRowContext, Store};

#[test]
fn rows_with_equal_timestamps_keep_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
    let ids = store.write(|tx| {
        let place = NewRowContext {
            project: Some(project(tx, "shop")?),
            made_by: "test",
            ..NewRowContext::default()
        };
        let made = [("before", 1), ("one", 2), ("two", 2), ("three", 2), ("after", 3)];
        let ids = made.map(|(title, at)| tx.create_observation(&observation(title, "", at), &place));
        ids.into_iter().collect::<Result<Vec<_>, _>>()
    });
    for id in ids.unwrap() {
        let around = TimelineRequest {
            anchor: RowId::new(RowKind::Observation, id.0),
            before: 4,
            after: 4,
            kinds: Vec::new(),
            types: Vec::new(),
            since: None,
            until: None,
            all_projects: false,
            include_wrong: false,
        };
        let told = timeline(&store.read(), &around).unwrap().unwrap();
        let titles: Vec<_> = told.into_iter().map(|item| item.title).collect();
        assert_eq!(titles, ["before", "one", "two", "three", "after"], "around {id:?}");
    }
}
