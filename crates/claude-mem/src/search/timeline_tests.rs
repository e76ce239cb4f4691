use super::*;
use crate::search::testing::{observation, project};
use crate::store::{Store, Stored};

#[test]
fn rows_of_one_moment_keep_their_order_whichever_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
    let ids = store.write(|tx| {
        let place = Stored {
            project: Some(project(tx, "shop")?),
            made_by: "test",
            ..Stored::default()
        };
        let made = [
            ("before", 1),
            ("one", 2),
            ("two", 2),
            ("three", 2),
            ("after", 3),
        ];
        let ids =
            made.map(|(title, at)| tx.create_observation(&observation(title, "", at), &place));
        ids.into_iter().collect::<Result<Vec<_>, _>>()
    });
    for id in ids.unwrap() {
        let around = Around {
            anchor: Handle::from((RowKind::Observation, id.0)),
            before: 4,
            after: 4,
            kinds: Vec::new(),
            types: Vec::new(),
            since: None,
            until: None,
            all_projects: false,
            with_wrong: false,
        };
        let told = timeline(&store.read(), &around).unwrap().unwrap();
        let titles: Vec<_> = told.into_iter().map(|item| item.title).collect();
        assert_eq!(
            titles,
            ["before", "one", "two", "three", "after"],
            "around {id:?}"
        );
    }
}
