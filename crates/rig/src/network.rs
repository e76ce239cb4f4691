//! [`TestNetwork`]: hosts on this machine that can be cut off from each other.
//!
//! Each [`NetworkHost`] is a network namespace with one address, connected to a switch in a namespace of its own.
//! Nothing leads out of it. It needs root and iproute2.

use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::client::find_on_path;
use crate::process;

/// Begins the names of our namespaces; the number of our process follows.
const PREFIX: &str = "claude-mem-test-";

/// Where `ip netns` keeps its namespaces.
const NAMESPACES: &str = "/run/netns";

const COMMAND_SECONDS_MAX: u64 = 20;

/// A switch and its hosts. Dropping it removes all of them.
#[derive(Debug)]
pub struct TestNetwork {
    switch: String,
    hosts: u8,
}

/// How a host is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// Packets vanish in both directions, and the host does not know it.
    Silent,
    /// The cable is pulled: the host sees its link go down.
    LinkDown,
    /// What the host sends arrives; what is sent to it vanishes.
    Deaf,
}

impl LinkFault {
    /// Every kind of fault.
    pub const ALL: [Self; 3] = [Self::Silent, Self::LinkDown, Self::Deaf];
}

/// A host of a [`TestNetwork`].
#[derive(Debug)]
pub struct NetworkHost {
    namespace: String,
    /// The end of its cable at the switch.
    port: String,
    switch: String,
    address: Ipv4Addr,
    fault: Option<LinkFault>,
}

impl TestNetwork {
    /// Makes the switch, or prints `skipped: REASON`.
    pub fn start_or_skip() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            crate::skip("network namespaces need root");
            return None;
        }
        if find_on_path("ip").is_none() || find_on_path("nsenter").is_none() {
            crate::skip("iproute2 is not installed; `cargo xtask test` installs it");
            return None;
        }
        remove_abandoned();
        let switch = format!("{PREFIX}{}-switch", std::process::id());
        let network = Self { switch, hosts: 0 };
        if let Err(why) = network.make_switch() {
            crate::skip(format_args!("this machine allows no network namespaces: {}", why.trim()));
            return None;
        }
        Some(network)
    }

    fn make_switch(&self) -> Result<(), String> {
        ip(&["netns", "add", &self.switch])?;
        ip(&["-n", &self.switch, "link", "add", "bridge", "type", "bridge"])?;
        ip(&["-n", &self.switch, "link", "set", "bridge", "up"])
    }

    /// Adds a host with the next address.
    pub fn add_host(&mut self) -> NetworkHost {
        self.hosts += 1;
        let (number, process) = (self.hosts, std::process::id());
        let host = NetworkHost {
            namespace: format!("{PREFIX}{process}-{number}"),
            port: format!("port{number}"),
            switch: self.switch.clone(),
            address: Ipv4Addr::new(10, 77, 0, number),
            fault: None,
        };
        let (namespace, port, address) = (&host.namespace, &host.port, format!("{}/24", host.address));
        let made = ip(&["netns", "add", namespace])
            .and_then(|()| {
                ip(&[
                    "link",
                    "add",
                    "cable",
                    "netns",
                    namespace,
                    "type",
                    "veth",
                    "peer",
                    "name",
                    port,
                    "netns",
                    &self.switch,
                ])
            })
            .and_then(|()| ip(&["-n", &self.switch, "link", "set", port, "master", "bridge", "up"]))
            .and_then(|()| ip(&["-n", namespace, "address", "add", &address, "dev", "cable"]))
            .and_then(|()| ip(&["-n", namespace, "link", "set", "cable", "up"]))
            .and_then(|()| ip(&["-n", namespace, "link", "set", "lo", "up"]))
            // By default the rule for local addresses is the first of all; leave room before it.
            .and_then(|()| ip(&["-n", namespace, "rule", "add", "priority", "100", "lookup", "local"]))
            .and_then(|()| ip(&["-n", namespace, "rule", "delete", "priority", "0"]));
        made.expect("a host");
        host
    }
}

impl Drop for TestNetwork {
    fn drop(&mut self) {
        // The devices at the switch end with it.
        let _ = ip(&["netns", "delete", &self.switch]);
    }
}

impl NetworkHost {
    pub const fn address(&self) -> IpAddr {
        IpAddr::V4(self.address)
    }

    /// The file of the namespace, for `nsenter --net=FILE`.
    pub fn namespace_file(&self) -> PathBuf {
        Path::new(NAMESPACES).join(&self.namespace)
    }

    /// A command that runs a program on this host.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.namespace_file().display())).arg("--").arg(program);
        command
    }

    /// Writes a script that runs a program on this host, with the arguments that it is given.
    pub fn write_wrapper(&self, script: &Path, program: &Path) {
        use std::os::unix::fs::PermissionsExt as _;
        let namespace = self.namespace_file();
        let text = format!(
            "#!/bin/sh\nexec nsenter '--net={}' -- '{}' \"$@\"\n",
            namespace.display(),
            program.display()
        );
        fs::write(script, text).expect("a script");
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).expect("chmod");
    }

    /// Moves the calling thread, and those it starts from now on, to this host: their sockets belong to it.
    pub fn enter(&self) {
        let file = File::open(self.namespace_file()).expect("the namespace");
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).expect("setns");
    }

    pub const fn is_parted(&self) -> bool {
        self.fault.is_some()
    }

    /// Cuts the host off.
    pub fn part(&mut self, fault: LinkFault) {
        self.heal();
        let switched = match fault {
            LinkFault::Silent => ip(&["-n", &self.switch, "link", "set", &self.port, "nomaster"]),
            LinkFault::LinkDown => ip(&["-n", &self.switch, "link", "set", &self.port, "down"]),
            LinkFault::Deaf => self.filter("add"),
        };
        switched.expect("a partition");
        self.fault = Some(fault);
    }

    /// Connects the host again.
    pub fn heal(&mut self) {
        let switched = match self.fault.take() {
            Some(LinkFault::Silent) => {
                ip(&["-n", &self.switch, "link", "set", &self.port, "master", "bridge"])
            }
            Some(LinkFault::LinkDown) => ip(&["-n", &self.switch, "link", "set", &self.port, "up"]),
            Some(LinkFault::Deaf) => self.filter("delete"),
            None => Ok(()),
        };
        switched.expect("the end of a partition");
    }

    /// A rule of the host itself that drops what arrives for it: the sender is not told.
    fn filter(&self, verb: &str) -> Result<(), String> {
        ip(&["-n", &self.namespace, "rule", verb, "iif", "cable", "priority", "50", "blackhole"])
    }
}

impl Drop for NetworkHost {
    fn drop(&mut self) {
        let _ = ip(&["netns", "delete", &self.namespace]);
    }
}

fn ip(args: &[&str]) -> Result<(), String> {
    let mut command = Command::new("ip");
    command.args(args);
    let output = process::run(command, b"", Duration::from_secs(COMMAND_SECONDS_MAX));
    if output.code == Some(0) { Ok(()) } else { Err(format!("ip {}: {}", args.join(" "), output.stderr)) }
}

/// Removes namespaces of test processes that were killed.
fn remove_abandoned() {
    let names = fs::read_dir(NAMESPACES).into_iter().flatten().flatten();
    for name in names.map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another test may remove it at the same time.
            let _ = ip(&["netns", "delete", &name]);
        }
    }
}
