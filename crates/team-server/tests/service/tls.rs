//! TLS: of the service, and between the service and its database.

use claude_mem_team_server::{RunningServer, ServeOptions, StartError};
use claude_mem_wire::messages::HelloReply;
use rig::certificates::TestCertificates;
use rig::postgres::give_to_server;

/// A client that trusts this authority alone.
fn agent(certificates: &TestCertificates) -> ureq::Agent {
    let authority = std::fs::read(certificates.authority()).unwrap();
    let authority = ureq::tls::Certificate::from_pem(&authority).unwrap();
    let roots = ureq::tls::RootCerts::new_with_certs(&[authority]);
    let tls = ureq::tls::TlsConfig::builder().root_certs(roots).build();
    ureq::Agent::config_builder().tls_config(tls).build().into()
}

#[test]
fn service_and_database_speak_tls() {
    let Some(build) = rig::postgres::with_tls_or_skip() else { return };
    let Some(certificates) = TestCertificates::make_or_skip(&[]) else { return };
    let port = {
        let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        free.local_addr().unwrap().port()
    };
    let mut cluster = build.start();
    let (chain, key) = (cluster.home().join("server.pem"), cluster.home().join("server.key"));
    std::fs::copy(certificates.certificate(), &chain).unwrap();
    std::fs::copy(certificates.key(), &key).unwrap();
    give_to_server(&chain, 0o644);
    give_to_server(&key, 0o600);
    cluster.stop();
    cluster.set(&[
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", chain.display()),
        format!("ssl_key_file={}", key.display()),
    ]);
    cluster.start();

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let address = format!("postgres://postgres@localhost:{port}/postgres?sslmode=require");
    let mut options = ServeOptions::new(address);
    options.certificate = Some((certificates.certificate(), certificates.key()));
    // The public authorities do not know this database.
    let refused = runtime.block_on(RunningServer::start(&options)).expect_err("an unknown authority");
    assert!(matches!(refused, StartError::Unreachable(_)), "{refused}");

    options.database_ca = Some(certificates.authority());
    let server = runtime.block_on(RunningServer::start(&options)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(cluster.psql("SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'claude-mem team'"), "t");
    let port = server.report().address.port();
    let link = server.report().admin_link.clone().unwrap();
    assert!(link.starts_with(&format!("https://127.0.0.1:{port}/#i.")), "{link}");
    let url = format!("https://localhost:{port}/v1/hello");
    let mut reply = agent(&certificates).get(&url).call().unwrap();
    let hello: HelloReply = serde_json::from_str(&reply.body_mut().read_to_string().unwrap()).unwrap();
    assert_eq!(hello.protocol_max, 1);
    assert!(crate::support::agent().get(&url).call().is_err(), "the public authorities do not know it");
    assert!(crate::support::agent().get(&format!("http://localhost:{port}/v1/hello")).call().is_err());
    runtime.block_on(server.stop());
}

#[test]
fn missing_certificate_is_named() {
    let mut options = ServeOptions::new("host=/nonexistent user=x");
    options.certificate = Some(("/nonexistent/c.pem".into(), "/nonexistent/k.pem".into()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let error = runtime.block_on(RunningServer::start(&options)).err().unwrap().to_string();
    assert!(error.contains("/nonexistent/c.pem"), "{error}");
}
