use super::*;
use crate::import::{NoProgress, SourceTrust};
use claude_mem_capture::settings::HookSettings;
use claude_mem_core::config::Settings;
use claude_mem_store::{PageRequest, RowFilter};

const NOW: Millis = Millis(1_900_000_000_000);

fn run_in(client_dir: &Path, store: &mut Store) -> ImportReport {
    let settings = HookSettings::from_settings(Settings::default(), false);
    let around =
        ImportContext { settings: &settings, home: "/home/user", client_dir, trust: SourceTrust::Own };
    let report = run(store, around, NOW, &mut NoProgress).unwrap();
    assert!(report.adds_up(), "{report:#?}");
    report
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The client's folder of a project that its transcript names.
fn shop_folder(root: &Path) -> PathBuf {
    let shop = root.join("src/shop");
    std::fs::create_dir_all(&shop).unwrap();
    let folder = root.join("client/projects/-src-shop");
    let line = serde_json::json!({"type": "user", "sessionId": "s", "cwd": shop, "uuid": "u",
        "timestamp": "2026-01-31T09:00:00Z", "message": {"role": "user", "content": "hello"}});
    write(&folder.join("s.jsonl"), &format!("{line}\n"));
    folder
}

#[test]
fn sections_become_memories_of_the_project() {
    let dir = tempfile::tempdir().unwrap();
    let folder = shop_folder(dir.path());
    write(
        &folder.join("memory/MEMORY.md"),
        "# Index\n- [Deploys](deploys.md) - when\n\n## Build\nUse `make all`.\n",
    );
    write(
        &folder.join("memory/deploys.md"),
        "---\nname: deploys\ndescription: Never deploy at night\ntype: feedback\n---\n\nNights are for batch jobs.\n\
         The key is ghp_9fQ2mVx7Lk4TzR1bYc8WnE5sJd3HaP6uGi0o.\n",
    );
    write(&folder.join("memory/notes.txt"), "not a memory file");
    write(&dir.path().join("client/projects/-gone/memory/a.md"), "No transcript tells its directory.");
    let mut store = Store::open(&dir.path().join("ours.db")).unwrap();
    let report = run_in(&dir.path().join("client"), &mut store);
    assert_eq!(report.imported(), 2);
    let rows = store.read().observations(&RowFilter::default(), PageRequest::first(10)).unwrap().items;
    let mut told: Vec<_> = rows
        .iter()
        .map(|row| (row.text.title.as_str(), row.text.kind.as_str(), row.origin, row.text.narrative.as_str()))
        .collect();
    told.sort_unstable_by_key(|row| row.0);
    assert_eq!(
        told,
        [
            ("Build", "discovery", Origin::Import, "Use `make all`."),
            (
                "Never deploy at night",
                "decision",
                Origin::Import,
                "Nights are for batch jobs.\nThe key is [redacted:high-entropy]"
            ),
        ]
    );
    let name = store.read().project(rows[0].project.unwrap()).unwrap().name;
    assert_eq!(name, "shop");
    assert_eq!(run_in(&dir.path().join("client"), &mut store).imported(), 0, "nothing twice");
}

/// Sets when a file was changed.
fn touch(path: &Path, at: Millis) {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(at.0.unsigned_abs());
    std::fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_folder_without_transcripts_belongs_to_the_known_project_of_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let projects = dir.path().join("client/projects");
    write(&projects.join("-work-my-shop/memory/MEMORY.md"), "# Memory\n- Use pnpm\n- Never npm\n");
    write(&projects.join("-work-my-shop/memory/more.md"), "Deploys are done by Jonas.\n");
    write(&projects.join("-elsewhere/memory/MEMORY.md"), "# Memory\n- Nobody knows where\n");
    write(&projects.join("-a-b-c/memory/MEMORY.md"), "# Memory\n- Two directories have this name\n");
    let (early, late) = (Millis(1_700_000_000_000), Millis(1_710_000_000_000));
    touch(&projects.join("-work-my-shop/memory/MEMORY.md"), early);
    touch(&projects.join("-work-my-shop/memory/more.md"), late);
    let mut store = Store::open(&dir.path().join("ours.db")).unwrap();
    for root in ["/work/my.shop", "/a/b.c", "/a.b/c"] {
        let hint = ProjectHint {
            name: root.rsplit('/').next().unwrap().into(),
            keys: vec![format!("path:{root}")],
            root: root.into(),
            branch: None,
        };
        store.write(|tx| tx.ensure_project(&hint, Millis(1_600_000_000_000))).unwrap();
    }
    let mut report = run_in(&dir.path().join("client"), &mut store);
    let tally = report.tally(KIND);
    let skipped: Vec<_> = tally.skipped.iter().map(|(why, rows)| (*why, *rows)).collect();
    assert_eq!((tally.imported, skipped), (3, vec![(ImportSkipReason::ProjectUnknown, 2)]));
    assert_eq!(ImportSkipReason::ProjectUnknown.description(), "project unknown");
    let rows = store.read().observations(&RowFilter::default(), PageRequest::first(10)).unwrap().items;
    let mut titles: Vec<&str> = rows.iter().map(|row| row.text.title.as_str()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["Deploys are done by Jonas.", "Never npm", "Use pnpm"]);
    let project = store.read().project(rows[0].project.unwrap()).unwrap();
    assert_eq!((project.name.as_str(), project.last_active), ("my.shop", late));
}

#[test]
fn a_file_that_is_too_long_is_reported_and_not_imported() {
    let dir = tempfile::tempdir().unwrap();
    let folder = shop_folder(dir.path());
    write(&folder.join("memory/sound.md"), "Use `make all`.\n");
    write(&folder.join("memory/sparse.md"), "");
    let sparse = std::fs::OpenOptions::new().write(true).open(folder.join("memory/sparse.md")).unwrap();
    sparse.set_len(40 << 30).unwrap();
    let mut store = Store::open(&dir.path().join("ours.db")).unwrap();
    let report = run_in(&dir.path().join("client"), &mut store);
    assert_eq!(report.imported(), 1, "{report:#?}");
    let problems = format!("{:?}", report.problems);
    assert!(problems.contains("sparse.md") && problems.contains("longer than 256 KB"), "{problems}");
}
