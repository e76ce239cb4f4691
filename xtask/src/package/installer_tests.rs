use super::super::release::TARGETS;
use super::*;

const BASE_URL: &str = "https://example.org/v1";

/// One tarball per platform, each with a checksum of its own.
fn tarballs() -> Vec<ReleaseTarball> {
    let numbered = TARGETS.into_iter().zip(1_u8..);
    numbered.map(|(target, n)| ReleaseTarball { target, sha256: format!("{n:064x}") }).collect()
}

#[test]
fn formula_pairs_every_tarball_with_its_checksum() {
    let formula = homebrew_formula(&tarballs(), BASE_URL);
    for ReleaseTarball { target, sha256 } in tarballs() {
        let pair =
            format!("      url \"{BASE_URL}/{}\"\n      sha256 \"{sha256}\"\n", target.tarball(MAIN_PROGRAM));
        let block = if target.arch == "aarch64" { "    on_arm do\n" } else { "    on_intel do\n" };
        assert_eq!(formula.matches(&format!("{block}{pair}    end\n")).count(), 1, "{formula}");
    }
    let hosted = homebrew_formula(&tarballs(), "https://example.org/a/b/releases/download/v1");
    assert!(hosted.contains("  homepage \"https://example.org/a/b\"\n"), "{hosted}");
    let (mac, linux) = (formula.find("on_macos").unwrap(), formula.find("on_linux").unwrap());
    for (at, name) in formula.match_indices("-macos-").chain(formula.match_indices("-linux-")) {
        let (begin, end) = if name == "-macos-" { (mac, linux) } else { (linux, formula.len()) };
        assert!((begin..end).contains(&at), "{name} in the wrong block: {formula}");
    }
}

#[test]
fn formula_closes_every_block() {
    for tarballs in [&tarballs()[..], &tarballs()[..1], &tarballs()[2..3]] {
        let formula = homebrew_formula(tarballs, BASE_URL);
        let opens = |line: &&str| {
            let line = line.trim();
            line.starts_with("class ") || line.starts_with("def ") || line.ends_with(" do")
        };
        let opened = formula.lines().filter(opens).count();
        let closed = formula.lines().filter(|line| line.trim() == "end").count();
        assert_eq!(opened, closed, "{formula}");
        assert!(formula.starts_with("class ClaudeMemNative < Formula\n"), "{formula}");
        assert_eq!(formula.contains("on_macos"), tarballs.iter().any(|one| one.target.os == "macos"));
    }
}

#[test]
fn script_pairs_every_platform_with_its_checksum() {
    let script = shell_script(&tarballs(), BASE_URL);
    for ReleaseTarball { target, sha256 } in tarballs() {
        let (system, machine) = target.uname;
        let file = target.tarball(MAIN_PROGRAM);
        let case = format!("  {system}-{machine}) file={file} sum={sha256} ;;\n");
        assert_eq!(script.matches(&case).count(), 1, "{script}");
    }
    let left = script.replace("\"$@\"", "");
    assert!(script.contains(BASE_URL) && !left.contains('@'), "a placeholder is left: {script}");
}
