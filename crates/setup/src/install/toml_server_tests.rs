use super::*;

const TABLE: &str = "mcp_servers";

fn add(text: &str, program: &str) -> Result<String, ServerEditError> {
    add_server(text, TABLE, program, &["mcp".to_owned()])
}

/// Realistic settings of users.
const SETTINGS: [&str; 10] = [
    "",
    "model = \"gpt-5.5\"\n",
    "model = \"gpt-5.5\"",
    "model = \"gpt-5.5\"\r\n[features]\r\nhooks = true\r\n",
    "# mine\n[mcp_servers.notes]\ncommand = \"notes\"\nargs = [\n  \"[serve]\",\n  \"--all\",\n]\n",
    "[projects.\"/work/shop\"]\ntrust_level = \"trusted\"\n\n\n# the end\n",
    "instructions = \"\"\"\n[not a table]\nsay \\\"hi\\\"\n\"\"\"\n[tui]\ntheme = 'dark' # [no table]\n",
    "notify = [\"say\", \"done\"]\n\n[[plugins]]\nname = \"a\"\n\n[[plugins]]\nname = \"b\"\n",
    "mcp_servers.notes.command = \"notes\"\n",
    "[ mcp_servers . \"other\" ]\ncommand = \"x\"\nenv = { A = \"1\", B = \"[2]\" }\n",
];

#[test]
fn server_is_added_once_and_removed_completely() {
    for text in SETTINGS {
        let there = add(text, "/bin/claude-mem").unwrap();
        assert!(there.starts_with(text), "{there}");
        assert!(there.contains("[mcp_servers.claude-mem]"), "{there}");
        assert_eq!(add(&there, "/bin/claude-mem").unwrap(), there, "{text}");
        let moved = add(&there, "/opt/claude-mem").unwrap();
        assert_eq!(moved, there.replace("/bin/", "/opt/"), "{text}");
        let back = remove_server(&there, TABLE);
        let whole_lines =
            if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
        assert_eq!(back, whole_lines, "{text}");
    }
}

#[test]
fn other_tables_keep_every_byte() {
    let text = "[a]\nx = 1\n\n[mcp_servers.claude-mem]\ncommand = \"claude-mem\"\nargs = [\"mcp\"]\n\n# about b\n[b]\ny = 2\n";
    let there = add(text, "/bin/claude-mem").unwrap();
    assert_eq!(there, text.replace("\"claude-mem\"", "\"/bin/claude-mem\""));
    assert_eq!(remove_server(&there, TABLE), "[a]\nx = 1\n\n# about b\n[b]\ny = 2\n");
}

#[test]
fn server_of_another_program_keeps_its_name() {
    let text = "[mcp_servers.claude-mem]\ncommand = \"python\"\nargs = [\"x.py\"]\n";
    assert_eq!(add(text, "/bin/claude-mem"), Err(ServerEditError::NameTaken));
    assert_eq!(remove_server(text, TABLE), text);
}

#[test]
fn text_that_cannot_be_extended_is_refused() {
    for text in ["mcp_servers = { notes = { command = \"x\" } }\n", "a = [1,\n", "a = \"\"\"\nnever closed\n"]
    {
        assert!(matches!(add(text, "/bin/claude-mem"), Err(ServerEditError::Unreadable(_))), "{text}");
        assert_eq!(remove_server(text, TABLE), text);
    }
}

#[test]
fn odd_paths_are_quoted() {
    let there = add("", "/opt/a \"b\"\\c/claude-mem").unwrap();
    assert!(there.contains(r#"command = "/opt/a \"b\"\\c/claude-mem""#), "{there}");
}

#[test]
fn subtables_of_our_server_go_with_it() {
    let text = "[mcp_servers.claude-mem]\ncommand = \"/bin/claude-mem\"\nargs = [\"mcp\"]\n[mcp_servers.claude-mem.env]\nA = \"1\"\n";
    assert_eq!(remove_server(text, TABLE), "");
}
