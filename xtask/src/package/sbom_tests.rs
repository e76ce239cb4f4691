use super::*;

#[test]
fn only_linked_crates_are_listed_with_their_checksums() {
    let package = |name: &str, source: Option<&str>| json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0", "source": source });
    let edge = |name: &str, kind: Option<&str>| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
    let metadata = json!({
        "packages": [package(COMMAND, None), package("linked", Some("s")), package("tested", Some("s"))],
        "resolve": { "nodes": [
            { "id": COMMAND, "deps": [edge("linked", None), edge("tested", Some("dev"))] },
            { "id": "linked", "deps": [] },
            { "id": "tested", "deps": [] },
        ] },
    });
    let lock = "version = 4\n\n[[package]]\nname = \"linked\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n";
    let bill = describe(&serde_json::from_value(metadata).unwrap(), &checksums(lock));
    let names: Vec<&str> =
        bill["components"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["linked", "all-MiniLM-L6-v2"]);
    assert_eq!(bill["components"][0]["hashes"][0]["content"], "abc");
    assert_eq!(bill["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
}
