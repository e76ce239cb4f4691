//! A file system that is really full: an import and hooks say so, and go on when there is room.

use std::time::Duration;

use rig::{Output, Sandbox};

use crate::common::hooks::NEUTRAL;
use crate::common::{exe, past};

/// One story on a small file system of its own. `ROOM` bytes are left on it while it is full.
/// Each part of the output begins with `==` and ends with the exit code.
const STORY: &str = r#"
mount -t tmpfs -o size=64m,mode=700 tmpfs "$CLAUDE_MEM_DATA_DIR" || exit 77
mem() { "$EXE" "$@" 2>&1; echo "[exit $?]"; }
prompt() { echo "{\"session_id\":\"s\",\"cwd\":\"/\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"$1\",\"prompt_id\":\"$1\"}" |
  mem hook claude-code UserPromptSubmit; }
ballast=$CLAUDE_MEM_DATA_DIR/ballast
echo == before; mem save 'Money is counted in cents.'
dd if=/dev/zero of="$ballast" bs=1k 2>/dev/null
truncate -s $(($(stat -c %s "$ballast") - ROOM)) "$ballast"
echo == import; mem import transcripts
echo == hook; prompt one
echo == doctor; mem doctor
rm "$ballast"
echo == resumed; mem import transcripts
echo == heard; prompt two; mem queue list
echo == sound; mem doctor --json
echo == kept; mem search --all-projects cents
echo == export; "$EXE" export
"#;

/// `None`: nobody may mount anything here.
fn story(home: &Sandbox, room: u32) -> Option<Output> {
    std::fs::create_dir_all(home.data_dir()).expect("a place to mount");
    let Some(unshare) = rig::client::on_path("unshare") else {
        println!("skipped: there is no unshare");
        return None;
    };
    let mut command = home.command(unshare);
    command.args(["--map-root-user", "--mount", "sh", "-c", STORY]);
    command.env("EXE", exe()).env("ROOM", room.to_string());
    let output = rig::process::run(command, b"", Duration::from_mins(2));
    if output.code == Some(77) || output.stderr.contains("unshare") {
        println!("skipped: {output}");
        return None;
    }
    Some(output.ok())
}

fn part<'o>(output: &'o Output, name: &str) -> &'o str {
    let begin = format!("== {name}\n");
    let (_, rest) = output.stdout.split_once(&begin).expect("this part");
    rest.split("\n== ").next().unwrap_or(rest)
}

/// `prompts`: how many of the two that hooks were told there was room for.
fn says_so_and_goes_on(room: u32, prompts: usize) {
    let whole = past::furnished(40);
    whole.mem(&["import", "transcripts"]).ok();
    let mut want = past::told(&whole);
    let home = past::furnished(40);
    let Some(output) = story(&home, room) else {
        return;
    };
    let import = part(&output, "import");
    assert!(import.contains("the disk is full"), "{import}");
    assert!(import.contains("run it again"), "{import}");
    assert!(import.ends_with("[exit 1]"), "{import}");
    assert_eq!(part(&output, "hook"), format!("{NEUTRAL}[exit 0]"));
    let doctor = part(&output, "doctor");
    assert!(
        doctor.contains("problem disk       only 0 MB free"),
        "{doctor}"
    );
    assert!(!doctor.contains("claude-mem restore"), "{doctor}");
    let resumed = part(&output, "resumed");
    assert!(resumed.ends_with("[exit 0]"), "{resumed}");
    let heard = part(&output, "heard");
    assert_eq!(heard.matches("waiting  prompt").count(), prompts, "{heard}");
    let sound = part(&output, "sound");
    assert!(sound.contains("claude-mem.db, sound"), "{sound}");
    assert!(part(&output, "kept").contains("Money is counted in cents."));
    let mut told = past::told_by(part(&output, "export"));
    told.retain(|line| !line.contains("Money is counted in cents."));
    want.sort();
    assert_eq!(told, want);
}

#[test]
fn a_disk_without_any_room() {
    says_so_and_goes_on(0, 1);
}

#[test]
fn a_disk_that_becomes_full_half_way() {
    says_so_and_goes_on(600_000, 2);
}
