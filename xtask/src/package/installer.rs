//! Files generated from the tarballs of all platforms: the shell installer and the Homebrew formula, both
//! with their checksums.

use super::release::{COMMAND, LICENSE, MAIN_PROGRAM, PACKAGE_NAME, ReleaseTarget, SUMMARY, VERSION};

/// A tarball of the release and its checksum.
#[derive(Clone, Debug)]
pub(super) struct ReleaseTarball {
    pub(super) target: ReleaseTarget,
    pub(super) sha256: String,
}

/// The shell installer. It downloads the tarball of the platform, verifies it and installs it for the user.
pub(super) fn shell_script(tarballs: &[ReleaseTarball], base_url: &str) -> String {
    let mut cases = String::new();
    for ReleaseTarball { target, sha256 } in tarballs {
        let (system, machine) = target.uname;
        cases.push_str(&format!(
            "  {system}-{machine}) file={} sum={sha256} ;;\n",
            target.tarball(MAIN_PROGRAM)
        ));
    }
    include_str!("install.sh")
        .replace("@CASES@\n", &cases)
        .replace("@BASE_URL@", base_url)
        .replace("@VERSION@", VERSION)
        .replace("@COMMAND@", COMMAND)
}

/// The Homebrew formula.
pub(super) fn homebrew_formula(tarballs: &[ReleaseTarball], base_url: &str) -> String {
    let class: String = PACKAGE_NAME.split('-').map(capitalized).collect();
    // The repository is where its releases are.
    let homepage = base_url.split("/releases/").next().unwrap_or(base_url);
    let mut formula = format!(
        "class {class} < Formula\n  desc \"{SUMMARY}\"\n  homepage \"{homepage}\"\n  version \"{VERSION}\"\n  \
         license \"{LICENSE}\"\n"
    );
    for (os, block) in [("macos", "on_macos"), ("linux", "on_linux")] {
        let own: Vec<&ReleaseTarball> = tarballs.iter().filter(|tarball| tarball.target.os == os).collect();
        if own.is_empty() {
            continue;
        }
        formula.push_str(&format!("\n  {block} do\n"));
        for ReleaseTarball { target, sha256 } in own {
            let block = if target.arch == "aarch64" { "on_arm" } else { "on_intel" };
            formula.push_str(&format!(
                "    {block} do\n      url \"{base_url}/{}\"\n      sha256 \"{sha256}\"\n    end\n",
                target.tarball(MAIN_PROGRAM)
            ));
        }
        formula.push_str("  end\n");
    }
    formula.push_str(&format!(
        "\n  def install\n    bin.install \"{COMMAND}\"\n  end\n\n  def caveats\n    \"Run `{COMMAND} install` to \
         connect it, and `{COMMAND} uninstall` before you remove it.\"\n  end\n\n  test do\n    system bin/\
         \"{COMMAND}\", \"version\"\n  end\nend\n"
    ));
    formula
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
#[path = "installer_tests.rs"]
mod tests;
