//! [`TeamLink`]: the address of a server and a secret in its fragment, which no server log contains.

use crate::secret::{DeviceToken, InviteSecret};

/// A link that people pass on or keep in the environment: `https://mem.acme.dev:7700/#i.…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamLink {
    base: String,
    pub secret: LinkSecret,
}

/// The secret in the fragment of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkSecret {
    /// `#i.…`: joins a team, once.
    Invite(InviteSecret),
    /// `#t.…`: acts as a device, for CI jobs.
    Token(DeviceToken),
}

/// Why a text is not a link to a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("a link begins with https:// (http:// only to this machine)")]
    Insecure,
    #[error("the link's address is not valid")]
    BadAddress,
    #[error("the link's secret is incomplete; copy the whole link, with quotes around it in a shell")]
    BadSecret,
}

impl TeamLink {
    /// A link to this server; fails unless the address is `https` or on this machine.
    pub fn new(base: &str, secret: LinkSecret) -> Result<Self, LinkError> {
        Ok(Self { base: check_base(base)?, secret })
    }

    /// Reads what [`Display`](std::fmt::Display) wrote.
    pub fn parse(text: &str) -> Result<Self, LinkError> {
        let (base, fragment) = text.trim().split_once('#').ok_or(LinkError::BadSecret)?;
        let secret = match fragment.split_once('.') {
            Some(("i", secret)) => InviteSecret::parse(secret).map(LinkSecret::Invite),
            Some(("t", secret)) => DeviceToken::parse(secret).map(LinkSecret::Token),
            _ => None,
        };
        // The address first: a link to an insecure server must say so.
        let base = check_base(base)?;
        Ok(Self { base, secret: secret.ok_or(LinkError::BadSecret)? })
    }

    /// The server's address without a final slash; routes are appended to it.
    pub fn base(&self) -> &str {
        &self.base
    }
}

impl std::fmt::Display for TeamLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.secret {
            LinkSecret::Invite(secret) => write!(f, "{}/#i.{}", self.base, secret.reveal()),
            LinkSecret::Token(token) => write!(f, "{}/#t.{}", self.base, token.reveal()),
        }
    }
}

/// The address without its final slash: a host, optionally with port and path, and nothing else.
fn check_base(base: &str) -> Result<String, LinkError> {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '/' | '[' | ']' | '~');
    let (rest, is_secure) = match (base.strip_prefix("https://"), base.strip_prefix("http://")) {
        (Some(rest), _) => (rest.trim_end_matches('/'), true),
        (_, Some(rest)) => (rest.trim_end_matches('/'), false),
        _ => return Err(LinkError::Insecure),
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let (host, port) = split_port(authority).ok_or(LinkError::BadAddress)?;
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if host.is_empty() || !is_port || !rest.chars().all(is_plain) || rest.contains("..") {
        return Err(LinkError::BadAddress);
    }
    if is_secure || is_loopback(host) {
        Ok(base.trim_end_matches('/').to_owned())
    } else {
        Err(LinkError::Insecure)
    }
}

/// Host and port; `None` if brackets or colons are out of place.
fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        host.parse::<std::net::Ipv6Addr>().ok()?;
        return match after.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None => after.is_empty().then_some((host, None)),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Some((host, Some(port))),
        None => Some((authority, None)),
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
