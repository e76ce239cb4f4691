//! [`TeamFile`]: the team's address and this machine's token, in the data directory or the environment.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::sharing_error::SharingError;
use claude_mem_core::paths::{DataDir, remove_if_exists, replace_file};
use claude_mem_wire::{DeviceId, DeviceToken, LinkSecret, MemberId, TeamLink};

/// The variable that replaces the file, for CI.
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

/// The team of this machine; `None` if it has none.
pub fn load_team(dir: &DataDir, variable: Option<&str>) -> Result<Option<TeamFile>, SharingError> {
    if let Some(text) = variable.map(str::trim).filter(|text| !text.is_empty()) {
        let link = TeamLink::parse(text)?;
        let LinkSecret::Token(token) = link.secret.clone() else {
            return Err(SharingError::Misconfigured(format!(
                "{TEAM_VARIABLE} needs a link with a token (#t.…), not an invite"
            )));
        };
        return Ok(Some(TeamFile {
            base: link.base().to_owned(),
            token,
            team: String::new(),
            handle: String::new(),
            member: None,
            device: None,
            certificates: None,
            is_from_environment: true,
        }));
    }
    let text = match std::fs::read_to_string(dir.team()) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SharingError::File("cannot read team.json", error)),
    };
    let file: TeamFile = serde_json::from_str(&text)
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
