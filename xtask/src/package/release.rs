//! The names of a release in every package format.

use anyhow::bail;

/// The name of the packages, the same in every registry. `claude-mem` itself is the name of another
/// program in one of them.
pub(super) const PACKAGE_NAME: &str = "claude-mem-native";
/// The name of the executable, and of the command that every package installs.
pub(super) const COMMAND: &str = "claude-mem";
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(super) const LICENSE: &str = env!("CARGO_PKG_LICENSE");
pub(super) const SUMMARY: &str = "Memory for coding agents: one executable, local, no model needed";
/// Modification time of every packaged file: 1980-01-01, the earliest that a zip file can express.
pub(super) const MTIME_SECONDS: u64 = 315_532_800;

/// A program of a release. Each has a tarball and a Debian package of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReleaseProgram {
    /// The name of its packages.
    pub(super) package: &'static str,
    pub(super) command: &'static str,
    pub(super) summary: &'static str,
    /// The next step after the installation, as one sentence.
    pub(super) next_step: &'static str,
    pub(super) readme: &'static str,
}

/// The program that everybody installs.
pub(super) const MAIN_PROGRAM: ReleaseProgram = ReleaseProgram {
    package: PACKAGE_NAME,
    command: COMMAND,
    summary: SUMMARY,
    next_step: "Run `claude-mem install` once per user to connect it.",
    readme: include_str!("README.md"),
};

/// The server of a team, for the machine that runs it.
pub(super) const SERVER_PROGRAM: ReleaseProgram = ReleaseProgram {
    package: "claude-mem-native-team",
    command: "claude-mem-team",
    summary: "The server of claude-mem for shared memory, in front of PostgreSQL",
    next_step: "Run `claude-mem-team serve --help`.",
    readme: include_str!("team-README.md"),
};

/// A platform that we build packages for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReleaseTarget {
    /// Rust's names of operating system and architecture, as in our tarballs.
    pub(super) os: &'static str,
    pub(super) arch: &'static str,
    /// npm's names.
    pub(super) npm_os: &'static str,
    pub(super) npm_cpu: &'static str,
    /// The platform tag of a wheel.
    pub(super) wheel_tag: &'static str,
    /// Debian's architecture, on Linux.
    pub(super) debian_arch: Option<&'static str>,
    /// The output of `uname -s` and `uname -m`.
    pub(super) uname: (&'static str, &'static str),
}

/// Every platform of a release.
pub(super) const TARGETS: [ReleaseTarget; 4] = [
    ReleaseTarget {
        os: "linux",
        arch: "x86_64",
        npm_os: "linux",
        npm_cpu: "x64",
        wheel_tag: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
        debian_arch: Some("amd64"),
        uname: ("Linux", "x86_64"),
    },
    ReleaseTarget {
        os: "linux",
        arch: "aarch64",
        npm_os: "linux",
        npm_cpu: "arm64",
        wheel_tag: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
        debian_arch: Some("arm64"),
        uname: ("Linux", "aarch64"),
    },
    ReleaseTarget {
        os: "macos",
        arch: "aarch64",
        npm_os: "darwin",
        npm_cpu: "arm64",
        wheel_tag: "macosx_11_0_arm64",
        debian_arch: None,
        uname: ("Darwin", "arm64"),
    },
    ReleaseTarget {
        os: "macos",
        arch: "x86_64",
        npm_os: "darwin",
        npm_cpu: "x64",
        wheel_tag: "macosx_11_0_x86_64",
        debian_arch: None,
        uname: ("Darwin", "x86_64"),
    },
];

impl ReleaseTarget {
    /// The platform of this machine.
    pub(super) fn host() -> anyhow::Result<ReleaseTarget> {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        match TARGETS.into_iter().find(|target| target.os == os && target.arch == arch) {
            Some(target) => Ok(target),
            None => bail!("there are no packages for {os} on {arch}"),
        }
    }

    /// The name of a program's tarball, and of the directory inside it with `.tar.gz` removed.
    pub(super) fn tarball(&self, program: ReleaseProgram) -> String {
        format!("{}-{VERSION}-{}-{}.tar.gz", program.package, self.os, self.arch)
    }

    /// The npm package with the executable.
    pub(super) fn npm_package(&self) -> String {
        format!("{PACKAGE_NAME}-{}-{}", self.npm_os, self.npm_cpu)
    }
}
