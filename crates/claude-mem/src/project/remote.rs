//! One spelling for a repository's address.

/// `host/path`, the same for every way to write it: with or without a user, a password, a scheme,
/// a port or `.git`. `None`: not an address that means the same on two days.
pub fn normalise(url: &str) -> Option<String> {
    let url = url.trim();
    let url = url.split(['?', '#']).next().unwrap_or(url);
    match url.split_once("://") {
        Some(("file", path)) => local(path),
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/')?;
            let web = scheme.to_ascii_lowercase().starts_with("http");
            remote(authority, path, web)
        }
        None => match scp_like(without_user(url)) {
            Some((authority, path)) => remote(authority, path, false),
            None => local(url),
        },
    }
}

/// Whatever stands before the last `@` of the host's part is who asks, and may be a secret.
fn without_user(url: &str) -> &str {
    let host_end = url.find('/').unwrap_or(url.len());
    match url[..host_end].rfind('@') {
        Some(at) => &url[at + 1..],
        None => url,
    }
}

/// `host:path`. A slash before the colon makes it a path.
fn scp_like(url: &str) -> Option<(&str, &str)> {
    let (authority, path) = url.split_once(':')?;
    let is_host = !authority.is_empty() && !authority.contains('/') && !path.is_empty();
    is_host.then_some((authority, path))
}

fn remote(authority: &str, path: &str, keeps_port: bool) -> Option<String> {
    let host = without_user(authority).to_ascii_lowercase();
    let host = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            // The port of ssh says nothing about the repository; that of a web server does.
            let other = keeps_port && !matches!(port, "80" | "443");
            if other { host.as_str() } else { name }
        }
        _ => host.as_str(),
    };
    let host = match host {
        "ssh.github.com" => "github.com",
        "altssh.gitlab.com" => "gitlab.com",
        "altssh.bitbucket.org" => "bitbucket.org",
        host => host,
    };
    let path = tidy(path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

/// A repository on this machine. A relative one depends on where it is read from.
fn local(path: &str) -> Option<String> {
    let tidied = tidy(path);
    (path.starts_with('/') && !tidied.is_empty()).then(|| format!("/{tidied}"))
}

fn tidy(path: &str) -> &str {
    let path = path.trim_matches('/');
    path.strip_suffix(".git")
        .unwrap_or(path)
        .trim_end_matches('/')
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
