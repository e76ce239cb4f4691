//! `claude-mem open`: opens the viewer in a browser.
//!
//! Every user of the machine can read the command lines of running processes, and the link contains a
//! secret. So the browser gets the path of a private file (mode 600) that redirects to the link. The
//! worker removes the file when the link is used or expires. A sandboxed browser (snap, flatpak)
//! cannot read that file and gets the link itself.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::bail;
use serde::Serialize;

use super::app::App;
use super::worker;
use crate::cli::output::Screen;
use claude_mem_capture::ipc::client;
use claude_mem_core::{paths, platform};

/// Open the viewer in your browser
///
/// Starts the worker if needed. The link works once, within ten minutes. Do not share it: it gives
/// access to your memories.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem open
  claude-mem open --print      over ssh: forward the port, then open the link yourself")]
pub(super) struct Args {
    /// Print the link instead of opening it
    #[arg(long)]
    print: bool,
}

#[derive(Serialize)]
struct OpenReport {
    link: String,
    /// A browser was started.
    opened: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    worker::ensure_running(app)?;
    let asked = client::send_request(&worker::socket_path(app), "open", Some(Duration::from_secs(5)))?;
    let link = match asked {
        Some(link) if link.starts_with("http://") => link,
        Some(why) => bail!("{why}"),
        None => bail!("the worker stopped; try again"),
    };
    let may = !args.print && !screen.json && app.settings().settings.viewer_open;
    let opened = may && has_display() && open_browser(app, &link)?;
    screen.show(&OpenReport { link, opened }, |screen, opened| {
        if opened.opened {
            writeln!(screen, "opening the viewer in your browser")
        } else {
            writeln!(screen, "{}", opened.link)
        }
    })
}

/// Whether there is a display, or a `BROWSER` that may not need one.
fn has_display() -> bool {
    platform::always_has_display()
        || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].into_iter().any(|name| env_var(name).is_some())
}

/// The value of an environment variable, unless it is empty or not UTF-8.
fn env_var(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.into_string().ok()?;
    Some(value).filter(|value| !value.is_empty())
}

/// Opens the link in the default browser. Returns false if that failed.
fn open_browser(app: &App, link: &str) -> anyhow::Result<bool> {
    let opener = platform::default_opener();
    if is_sandboxed(&default_browser()) {
        return Ok(run_opener(opener, link));
    }
    let (_, secret) = link.split_once("#k=").unwrap_or_default();
    let page = app.data.open_page(secret);
    write_redirect_page(&page, link)?;
    let took = run_opener(opener, &page.display().to_string());
    if !took {
        std::fs::remove_file(&page)?;
    }
    Ok(took)
}

/// Writes the page that redirects to the link. The link needs no escaping: it consists of an address,
/// a port and hex digits.
fn write_redirect_page(page: &Path, link: &str) -> io::Result<()> {
    let text = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>claude-mem</title>\n<script>location.replace({link:?})</script>\n\
         <noscript>The viewer needs JavaScript.</noscript>\n"
    );
    paths::create_file(page)?.write_all(text.as_bytes())
}

/// Runs the opener. Still running after two seconds counts as success: some openers are the browser
/// itself.
fn run_opener(opener: &str, what: &str) -> bool {
    let Ok(mut child) = spawn_detached(opener, &[what], Stdio::null()) else {
        return false;
    };
    match wait_timeout(&mut child, Duration::from_secs(2)) {
        Ok(ended) => ended.is_none_or(|status| status.success()),
        Err(_) => false,
    }
}

/// Starts a program in its own process group, so that it survives us and our Ctrl-C.
#[allow(clippy::disallowed_methods, reason = "a browser must outlive the command that opens it")]
fn spawn_detached(program: &str, args: &[&str], says: Stdio) -> io::Result<Child> {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(says)
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

/// Waits for the child to exit. `None` if it is still running after `patience`.
fn wait_timeout(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + patience;
    loop {
        match child.try_wait()? {
            None if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            ended => return Ok(ended),
        }
    }
}

/// Candidate paths of the default browser: its program, or its snap or flatpak desktop entry. Empty if
/// unknown.
fn default_browser() -> Vec<PathBuf> {
    if let Some(browser) = env_var("BROWSER") {
        let program = browser.split([':', ' ']).next().unwrap_or_default();
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        return std::env::split_paths(&on_path)
            .map(|folder| folder.join(program))
            .filter(|program| program.exists())
            .take(1)
            .collect();
    }
    let Some((program, args)) = platform::default_browser_query() else {
        return Vec::new();
    };
    let Ok(mut child) = spawn_detached(program, &args, Stdio::piped()) else {
        return Vec::new();
    };
    if !matches!(wait_timeout(&mut child, Duration::from_secs(2)), Ok(Some(_))) {
        // It hangs. If the kill fails, it has just exited.
        let _ = child.kill();
    }
    let Ok(said) = child.wait_with_output() else {
        return Vec::new();
    };
    let entry = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if entry.is_empty() || entry.contains('/') {
        return Vec::new();
    }
    let home = PathBuf::from(env_var("HOME").unwrap_or_default());
    let shut_in = [
        PathBuf::from("/var/lib/snapd/desktop/applications"),
        PathBuf::from("/var/lib/flatpak/exports/share/applications"),
        home.join(".local/share/flatpak/exports/share/applications"),
    ];
    let entries = shut_in.map(|folder| folder.join(&entry));
    entries.into_iter().filter(|entry| entry.exists()).collect()
}

/// Whether the browser is a snap or a flatpak, which cannot read files in our directory.
fn is_sandboxed(browser: &[PathBuf]) -> bool {
    let folders = ["snap", "snapd", "flatpak"];
    browser
        .iter()
        .any(|path| path.components().any(|part| folders.iter().any(|folder| part.as_os_str() == *folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandboxed_browser_is_recognised_by_its_path() {
        for (path, shut_in) in [
            ("/snap/bin/firefox", true),
            ("/var/lib/snapd/desktop/applications/firefox_firefox.desktop", true),
            ("/home/a/.local/share/flatpak/exports/share/applications/org.x.desktop", true),
            ("/usr/bin/firefox", false),
            ("/home/snapper/bin/firefox", false),
        ] {
            assert_eq!(is_sandboxed(&[path.into()]), shut_in, "{path}");
        }
        assert!(!is_sandboxed(&[]));
    }

    #[test]
    fn redirect_page_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let page = dir.path().join("open.html");
        write_redirect_page(&page, "http://127.0.0.1:37700/#k=0a1b").unwrap();
        let mode = std::fs::metadata(&page).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&page).unwrap();
        let leads = "location.replace(\"http://127.0.0.1:37700/#k=0a1b\")";
        assert!(text.contains(leads), "{text}");
    }
}
