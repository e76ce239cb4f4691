//! `claude-mem open`: the viewer, in a browser.
//!
//! What stands on a command line can be read by everybody on the machine while the command runs.
//! So a browser is not given the link but a page of one line that leads there, in a file that only
//! its owner can read. The worker removes it when the link is used, or is void.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::bail;
use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::worker;
use crate::paths;
use crate::serve::client;

/// Open the viewer in your browser
///
/// Starts the worker if none runs. The link works once and for ten minutes; whoever has it can see
/// what is remembered, so do not pass it on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem open
  claude-mem open --print      over ssh: forward the port, then open the link yourself")]
pub(super) struct Args {
    /// Print the link instead
    #[arg(long)]
    print: bool,
}

#[derive(Serialize)]
struct Opened {
    link: String,
    /// A browser has it.
    opened: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    worker::ensure(app)?;
    let asked = client::ask(
        &worker::socket_of(app),
        "open",
        Some(Duration::from_secs(5)),
    )?;
    let link = match asked {
        Some(link) if link.starts_with("http://") => link,
        Some(why) => bail!("{why}"),
        None => bail!("the worker ended; try again"),
    };
    let may = !args.print && !screen.json && app.settings().settings.viewer_open;
    let opened = may && has_screen() && browse(app, &link)?;
    screen.show(&Opened { link, opened }, |screen, opened| {
        if opened.opened {
            writeln!(screen, "the viewer is opening in your browser")
        } else {
            writeln!(screen, "{}", opened.link)
        }
    })
}

/// Whether a browser would have somewhere to show itself.
fn has_screen() -> bool {
    cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"]
            .into_iter()
            .any(|name| set(name).is_some())
}

fn set(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.into_string().ok()?;
    Some(value).filter(|value| !value.is_empty())
}

/// True if something took it.
fn browse(app: &App, link: &str) -> anyhow::Result<bool> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    if is_shut_in(&default_browser()) {
        return Ok(took(opener, link));
    }
    let (_, secret) = link.split_once("#k=").unwrap_or_default();
    let page = app.data.opening(secret);
    write_page(&page, link)?;
    let took = took(opener, &page.display().to_string());
    if !took {
        std::fs::remove_file(&page)?;
    }
    Ok(took)
}

/// A page that leads to the link, and to nothing else. The link is of our own making: an address,
/// a port and hex digits.
fn write_page(page: &Path, link: &str) -> io::Result<()> {
    let text = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>claude-mem</title>\n<script>location.replace({link:?})</script>\n\
         <noscript>The viewer needs JavaScript.</noscript>\n"
    );
    paths::create_file(page)?.write_all(text.as_bytes())
}

/// Whether the opener did its work, or is still at it: some of them are the browser itself.
fn took(opener: &str, what: &str) -> bool {
    let Ok(mut child) = start(opener, &[what], Stdio::null()) else {
        return false;
    };
    match ended_within(&mut child, Duration::from_secs(2)) {
        Ok(ended) => ended.is_none_or(|status| status.success()),
        Err(_) => false,
    }
}

/// In a group of its own: it outlives us, and an interrupt meant for us.
#[allow(
    clippy::disallowed_methods,
    reason = "a browser must outlive the command that opens it"
)]
fn start(program: &str, args: &[&str], says: Stdio) -> io::Result<Child> {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(says)
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

/// `None`: it is still running.
fn ended_within(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + patience;
    loop {
        match child.try_wait()? {
            None if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            ended => return Ok(ended),
        }
    }
}

/// The program or the desktop entry that would show a page, where that can be told.
fn default_browser() -> Vec<PathBuf> {
    if let Some(browser) = set("BROWSER") {
        let program = browser.split([':', ' ']).next().unwrap_or_default();
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        return std::env::split_paths(&on_path)
            .map(|folder| folder.join(program))
            .filter(|program| program.exists())
            .take(1)
            .collect();
    }
    let Ok(mut child) = start(
        "xdg-settings",
        &["get", "default-web-browser"],
        Stdio::piped(),
    ) else {
        return Vec::new();
    };
    if !matches!(
        ended_within(&mut child, Duration::from_secs(2)),
        Ok(Some(_))
    ) {
        // It answers nobody; and if it cannot be ended, it was about to.
        let _ = child.kill();
    }
    let Ok(said) = child.wait_with_output() else {
        return Vec::new();
    };
    let entry = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    if entry.is_empty() || entry.contains('/') {
        return Vec::new();
    }
    let home = PathBuf::from(set("HOME").unwrap_or_default());
    let shut_in = [
        PathBuf::from("/var/lib/snapd/desktop/applications"),
        PathBuf::from("/var/lib/flatpak/exports/share/applications"),
        home.join(".local/share/flatpak/exports/share/applications"),
    ];
    let entries = shut_in.map(|folder| folder.join(&entry));
    entries.into_iter().filter(|entry| entry.exists()).collect()
}

/// Whether it can read nothing of our directory, being a snap or a flatpak: then the link itself
/// is all that it can be given.
fn is_shut_in(browser: &[PathBuf]) -> bool {
    let folders = ["snap", "snapd", "flatpak"];
    browser.iter().any(|path| {
        path.components()
            .any(|part| folders.iter().any(|folder| part.as_os_str() == *folder))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snap_and_a_flatpak_are_known_by_where_they_lie() {
        for (path, shut_in) in [
            ("/snap/bin/firefox", true),
            (
                "/var/lib/snapd/desktop/applications/firefox_firefox.desktop",
                true,
            ),
            (
                "/home/a/.local/share/flatpak/exports/share/applications/org.x.desktop",
                true,
            ),
            ("/usr/bin/firefox", false),
            ("/home/snapper/bin/firefox", false),
        ] {
            assert_eq!(is_shut_in(&[path.into()]), shut_in, "{path}");
        }
        assert!(!is_shut_in(&[]));
    }

    #[test]
    fn the_page_is_private_and_leads_to_the_link_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let page = dir.path().join("open.html");
        write_page(&page, "http://127.0.0.1:37700/#k=0a1b").unwrap();
        let mode = std::fs::metadata(&page).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&page).unwrap();
        let leads = "location.replace(\"http://127.0.0.1:37700/#k=0a1b\")";
        assert!(text.contains(leads), "{text}");
    }
}
