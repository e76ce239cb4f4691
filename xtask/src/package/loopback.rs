//! A package registry on loopback, for the check: it serves the npm packages of one directory.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::json;

use super::npm;
use super::release::{PACKAGE_NAME, TARGETS, VERSION};

/// The address of a server thread that ends with the process.
#[derive(Debug)]
pub(super) struct LoopbackRegistry {
    pub(super) url: String,
}

impl LoopbackRegistry {
    pub(super) fn start(packages: &Path) -> anyhow::Result<LoopbackRegistry> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let (packages, own) = (packages.to_path_buf(), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Err(error) = answer(stream, &packages, &own) {
                    eprintln!("loopback registry: {error:#}");
                }
            }
        });
        Ok(LoopbackRegistry { url })
    }
}

fn answer(stream: TcpStream, packages: &Path, url: &str) -> anyhow::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let path = line.split(' ').nth(1).unwrap_or("/").trim_start_matches('/');
    let body = respond(path, packages, url)?;
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    let mut stream = reader.into_inner();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    Ok(stream.write_all(&body)?)
}

/// The description of a package, or a file.
fn respond(path: &str, packages: &Path, url: &str) -> anyhow::Result<Option<Vec<u8>>> {
    let is_ours = path == PACKAGE_NAME || TARGETS.iter().any(|target| target.npm_package() == path);
    if !is_ours {
        let file: PathBuf = packages.join(path.rsplit('/').next().unwrap_or_default());
        return Ok(std::fs::read(file).ok());
    }
    let file = npm::file_name(path);
    let Ok(bytes) = std::fs::read(packages.join(&file)) else {
        return Ok(None);
    };
    let manifest = manifest_of(&bytes)?;
    let mut version: serde_json::Value = serde_json::from_slice(&manifest)?;
    version["dist"] = json!({ "tarball": format!("{url}/{file}") });
    let description =
        json!({ "name": path, "dist-tags": { "latest": VERSION }, "versions": { VERSION: version } });
    Ok(Some(serde_json::to_vec(&description)?))
}

/// `package.json`, which is the first file of our packages.
fn manifest_of(tgz: &[u8]) -> anyhow::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut tar = flate2::read::GzDecoder::new(tgz);
    let mut header = [0; 512];
    tar.read_exact(&mut header)?;
    let size = std::str::from_utf8(&header[124..135])?;
    let mut manifest = vec![0; usize::from_str_radix(size, 8).context("the size of package.json")?];
    tar.read_exact(&mut manifest)?;
    Ok(manifest)
}
