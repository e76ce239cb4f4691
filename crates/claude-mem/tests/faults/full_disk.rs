//! A really full file system: imports report it, hooks survive it, and both continue once there is space.

use std::time::Duration;

use rig::{ProcessOutput, Sandbox};

use crate::common::hooks::NEUTRAL;
use crate::common::{exe, past};

/// A shell script that runs on a small separate file system with `ROOM` free bytes.
/// Each section of the output begins with `==` and ends with the exit code.
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

/// `None` if mounting is not permitted on this machine.
fn run_on_small_disk(home: &Sandbox, room: u32) -> Option<ProcessOutput> {
    std::fs::create_dir_all(home.data_dir()).expect("a place to mount");
    let Some(unshare) = rig::client::find_on_path("unshare") else {
        rig::skip("there is no unshare");
        return None;
    };
    let mut command = home.command(unshare);
    command.args(["--map-root-user", "--mount", "sh", "-c", STORY]);
    command.env("EXE", exe()).env("ROOM", room.to_string());
    let output = rig::process::run(command, b"", Duration::from_mins(2));
    if output.code == Some(77) || output.stderr.contains("unshare") {
        rig::skip(&output);
        return None;
    }
    Some(output.ok())
}

fn output_section<'o>(output: &'o ProcessOutput, name: &str) -> &'o str {
    let begin = format!("== {name}\n");
    let (_, rest) = output.stdout.split_once(&begin).expect("this part");
    rest.split("\n== ").next().unwrap_or(rest)
}

/// `prompts`: how many of the two prompts fitted on the disk.
fn check_full_disk(room: u32, prompts: usize) {
    let whole = past::sandbox_with_transcripts(40);
    whole.mem(&["import", "transcripts"]).ok();
    let mut want = past::exported_rows(&whole);
    let home = past::sandbox_with_transcripts(40);
    let Some(output) = run_on_small_disk(&home, room) else {
        return;
    };
    let import = output_section(&output, "import");
    assert!(import.contains("the disk is full"), "{import}");
    assert!(import.contains("run it again"), "{import}");
    assert!(import.ends_with("[exit 1]"), "{import}");
    assert_eq!(output_section(&output, "hook"), format!("{NEUTRAL}[exit 0]"));
    let doctor = output_section(&output, "doctor");
    assert!(doctor.contains("problem disk       only 0 MB free"), "{doctor}");
    assert!(!doctor.contains("claude-mem restore"), "{doctor}");
    let resumed = output_section(&output, "resumed");
    assert!(resumed.ends_with("[exit 0]"), "{resumed}");
    let heard = output_section(&output, "heard");
    assert_eq!(heard.matches("waiting  prompt").count(), prompts, "{heard}");
    let sound = output_section(&output, "sound");
    assert!(sound.contains("claude-mem.db, intact"), "{sound}");
    assert!(output_section(&output, "kept").contains("Money is counted in cents."));
    let mut told = past::rows_in_export(output_section(&output, "export"));
    told.retain(|line| !line.contains("Money is counted in cents."));
    want.sort();
    assert_eq!(told, want);
}

#[test]
fn full_disk_is_reported_and_survived() {
    check_full_disk(0, 1);
}

#[test]
fn disk_that_fills_up_is_reported_and_survived() {
    check_full_disk(600_000, 2);
}
