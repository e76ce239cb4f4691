//! [`TestCertificates`]: a certificate authority and one certificate of it, made by openssl.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::client::find_on_path;
use crate::process;

const OPENSSL_SECONDS_MAX: u64 = 60;

/// A key on the curve that every client knows.
const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// PEM files in a directory of their own. Dropping it removes them.
#[derive(Debug)]
pub struct TestCertificates {
    home: TempDir,
}

impl TestCertificates {
    /// A certificate for `localhost`, `127.0.0.1` and these addresses, or `skipped: REASON`.
    pub fn make_or_skip(addresses: &[IpAddr]) -> Option<Self> {
        if find_on_path("openssl").is_none() {
            crate::skip("openssl is not installed; `cargo xtask test` installs it");
            return None;
        }
        let home = tempfile::Builder::new().prefix("claude-mem-tls").tempdir().expect("a directory");
        let mut names = "subjectAltName=DNS:localhost,IP:127.0.0.1".to_owned();
        for address in addresses {
            names.push_str(",IP:");
            names.push_str(&address.to_string());
        }
        fs::write(home.path().join("names"), names).expect("the names");
        openssl(
            home.path(),
            &format!("req -x509 {KEY} -days 2 -subj /CN=test-ca -keyout ca.key -out ca.pem"),
        );
        openssl(home.path(), &format!("req {KEY} -subj /CN=localhost -keyout leaf.key -out leaf.csr"));
        openssl(
            home.path(),
            "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out leaf.pem",
        );
        Some(Self { home })
    }

    /// The authority's certificate.
    pub fn authority(&self) -> PathBuf {
        self.home.path().join("ca.pem")
    }

    pub fn certificate(&self) -> PathBuf {
        self.home.path().join("leaf.pem")
    }

    pub fn key(&self) -> PathBuf {
        self.home.path().join("leaf.key")
    }
}

fn openssl(home: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    command.args(arguments.split(' ')).current_dir(home);
    process::run(command, b"", Duration::from_secs(OPENSSL_SECONDS_MAX)).ok();
}
