use super::*;

const INVITE: &str = "000102030405060708090a0b0c0d0e0f";

fn parse(base: &str) -> Result<String, LinkError> {
    TeamLink::parse(&format!("{base}#i.{INVITE}")).map(|link| link.base().to_owned())
}

#[test]
fn links_survive_writing_and_reading() {
    let invite = LinkSecret::Invite(InviteSecret::from_random([7; 16]));
    let token = LinkSecret::Token(DeviceToken::from_random([9; 32]));
    for secret in [invite, token] {
        let link = TeamLink::new("https://mem.acme.dev:7700/", secret).unwrap();
        assert_eq!(TeamLink::parse(&link.to_string()), Ok(link.clone()));
        assert_eq!(TeamLink::parse(&format!("  {link}\n")), Ok(link));
    }
}

#[test]
fn addresses_are_secure_or_local() {
    for (base, want) in [
        ("https://mem.acme.dev/", Ok("https://mem.acme.dev")),
        ("https://mem.acme.dev:7700/memory/", Ok("https://mem.acme.dev:7700/memory")),
        ("http://localhost:7700/", Ok("http://localhost:7700")),
        ("http://127.0.0.1:7700", Ok("http://127.0.0.1:7700")),
        ("http://[::1]:7700/", Ok("http://[::1]:7700")),
        ("http://mem.acme.dev/", Err(LinkError::Insecure)),
        ("http://localhost.acme.dev/", Err(LinkError::Insecure)),
        ("http://127.0.0.1.acme.dev/", Err(LinkError::Insecure)),
        ("ftp://mem.acme.dev/", Err(LinkError::Insecure)),
        ("https://", Err(LinkError::BadAddress)),
        ("https://localhost:0/", Err(LinkError::BadAddress)),
        ("https://user@mem.acme.dev/", Err(LinkError::BadAddress)),
        ("http://localhost:80@mem.acme.dev/", Err(LinkError::BadAddress)),
        ("https://mem.acme.dev/?a=b", Err(LinkError::BadAddress)),
        ("https://mem.acme.dev/../x", Err(LinkError::BadAddress)),
        ("https://mem acme.dev/", Err(LinkError::BadAddress)),
        ("http://[::1/", Err(LinkError::BadAddress)),
    ] {
        assert_eq!(parse(base).as_deref(), want.as_ref().map(|text| *text), "{base}");
    }
}

#[test]
fn cut_secret_is_named() {
    for text in ["https://a.dev/", "https://a.dev/#i.0011", "https://a.dev/#x.00", "https://a.dev/#"] {
        assert_eq!(TeamLink::parse(text), Err(LinkError::BadSecret), "{text}");
    }
}

#[test]
fn debug_output_has_no_secret() {
    let link = TeamLink::parse(&format!("https://a.dev/#i.{INVITE}")).unwrap();
    assert!(!format!("{link:?}").contains("0102"));
}
