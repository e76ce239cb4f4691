//! [`CertificateFiles`]: the server's certificate, read again on request so that a renewal needs no restart.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::StartError;

/// A certificate and its key.
#[derive(Debug)]
pub(crate) struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
    config: RwLock<Arc<ServerConfig>>,
}

impl CertificateFiles {
    pub(crate) fn load(certificate: PathBuf, key: PathBuf) -> Result<Self, StartError> {
        let config = RwLock::new(read_config(&certificate, &key)?);
        Ok(Self { certificate, key, config })
    }

    /// Reads both files again. If they are not valid, the old certificate stays in use.
    pub(crate) fn reload(&self) -> Result<(), StartError> {
        let config = read_config(&self.certificate, &self.key)?;
        *self.config.write().unwrap_or_else(std::sync::PoisonError::into_inner) = config;
        Ok(())
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

fn read_config(certificate: &PathBuf, key: &PathBuf) -> Result<Arc<ServerConfig>, StartError> {
    let bad =
        |file: &PathBuf, why: &dyn std::fmt::Display| StartError::Tls(format!("{}: {why}", file.display()));
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(certificate).map_err(|e| bad(certificate, &e))?.collect();
    let chain = chain.map_err(|e| bad(certificate, &e))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|e| bad(key, &e))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| StartError::Tls(e.to_string()))?;
    let config = builder.with_no_client_auth().with_single_cert(chain, secret);
    config.map(Arc::new).map_err(|e| bad(certificate, &e))
}
