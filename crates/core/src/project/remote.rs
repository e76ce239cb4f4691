//! Normalises the URLs of remote repositories.

/// Reduces a URL to `host/path`, whatever its user, password, scheme, port or `.git` suffix.
/// `None`: not a stable address, such as a relative path.
pub fn normalise(url: &str) -> Option<String> {
    let url = url.trim();
    let url = url.split(['?', '#']).next().unwrap_or(url);
    match url.split_once("://") {
        Some(("file", path)) => local_key(path),
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/')?;
            let web = scheme.to_ascii_lowercase().starts_with("http");
            remote_key(authority, path, web)
        }
        None => match scp_like(without_user(url)) {
            Some((authority, path)) => remote_key(authority, path, false),
            None => local_key(url),
        },
    }
}

/// Removes the user info before the last `@` of the host part; it may be a secret.
fn without_user(url: &str) -> &str {
    let host_end = url.find('/').unwrap_or(url.len());
    match url[..host_end].rfind('@') {
        Some(at) => &url[at + 1..],
        None => url,
    }
}

/// Splits `host:path`. With a slash before the colon it is a local path.
fn scp_like(url: &str) -> Option<(&str, &str)> {
    let (authority, path) = url.split_once(':')?;
    let is_host = !authority.is_empty() && !authority.contains('/') && !path.is_empty();
    is_host.then_some((authority, path))
}

fn remote_key(authority: &str, path: &str, keeps_port: bool) -> Option<String> {
    let host = without_user(authority).to_ascii_lowercase();
    let host = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            // An ssh port does not identify the repository; a web server's port does.
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
    let path = trim_repo_path(path);
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

/// A repository on this machine. A relative path is rejected, because it depends on the reader.
fn local_key(path: &str) -> Option<String> {
    let tidied = trim_repo_path(path);
    (path.starts_with('/') && !tidied.is_empty()).then(|| format!("/{tidied}"))
}

fn trim_repo_path(path: &str) -> &str {
    let path = path.trim_matches('/');
    path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/')
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
