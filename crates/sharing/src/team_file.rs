//! [`TeamFile`]: the team's address and this machine's token, in the data directory.
//!
//! Invariant: only a command that a person runs takes a membership from the environment ([`team_from_link`]).

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::sharing_error::SharingError;
use claude_mem_core::paths::{DataDir, read_file, remove_if_exists, replace_file};
use claude_mem_wire::{DeviceId, DeviceToken, LinkSecret, MemberId, TeamLink};

/// The variable that gives `team sync` a membership, for CI.
pub const TEAM_VARIABLE: &str = "CLAUDE_MEM_TEAM";

/// How this machine reaches its team.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TeamFile {
    /// The server's address.
    pub base: String,
    pub token: DeviceToken,
    #[serde(default)]
    pub team: String,
    #[serde(default)]
    pub handle: String,
    #[serde(default)]
    pub member: Option<MemberId>,
    #[serde(default)]
    pub device: Option<DeviceId>,
    /// PEM certificates to trust instead of the built-in ones.
    #[serde(default)]
    pub certificates: Option<PathBuf>,
    /// From the environment: nothing is written.
    #[serde(skip)]
    pub is_from_environment: bool,
}

/// The membership that a link with a token gives, for one command; nothing of it is written.
pub fn team_from_link(text: &str) -> Result<TeamFile, SharingError> {
    let link = TeamLink::parse(text.trim())?;
    let LinkSecret::Token(token) = link.secret.clone() else {
        return Err(SharingError::Misconfigured(format!(
            "{TEAM_VARIABLE} needs a link with a token (#t.…), not an invite"
        )));
    };
    Ok(TeamFile {
        base: link.base().to_owned(),
        token,
        team: String::new(),
        handle: String::new(),
        member: None,
        device: None,
        certificates: None,
        is_from_environment: true,
    })
}

/// The team of this machine; `None` if it has none. The environment is not asked: the worker serves all projects.
pub fn load_team(dir: &DataDir) -> Result<Option<TeamFile>, SharingError> {
    let text = match read_file(&dir.team()) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SharingError::File("cannot read team.json", error)),
    };
    let file: TeamFile = serde_json::from_slice(&text)
        .map_err(|error| SharingError::Misconfigured(format!("team.json is damaged: {error}; join again")))?;
    // The address is checked at every start: a plain one must not become usable by editing the file.
    TeamLink::new(&file.base, LinkSecret::Token(file.token.clone()))?;
    Ok(Some(file))
}

/// Writes the file, readable by its owner alone.
pub fn save_team(dir: &DataDir, file: &TeamFile) -> Result<(), SharingError> {
    let text = serde_json::to_vec_pretty(file).map_err(claude_mem_store::StoreError::from)?;
    replace_file(&dir.team(), &text).map_err(|error| SharingError::File("cannot write team.json", error))
}

pub fn remove_team(dir: &DataDir) -> Result<(), SharingError> {
    remove_if_exists(&dir.team()).map_err(|error| SharingError::File("cannot remove team.json", error))
}
