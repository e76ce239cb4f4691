use super::OutputSecrecy;

#[test]
fn commands_that_print_a_secret_are_known_by_the_names_in_them() {
    for (command, want) in [
        ("jq -r .db.password config.json", OutputSecrecy::Answer),
        ("kubectl get cm a -o jsonpath='{.data.DB_PASSWORD}'", OutputSecrecy::Answer),
        ("python3 -c 'import os; print(os.environ[\"DB_PASSWORD\"])'", OutputSecrecy::Answer),
        ("grep DB_PASSWORD .env | cut -d= -f2", OutputSecrecy::Lines),
        ("k get secret a -o yaml", OutputSecrecy::Lines),
        ("docker compose exec api sh -c 'echo $DB_PASSWORD'", OutputSecrecy::Lines),
        ("cat secrets/db_password.txt", OutputSecrecy::Whole),
        ("ssh prod cat /srv/app/api-key.txt", OutputSecrecy::Whole),
        ("cat .env", OutputSecrecy::Values),
    ] {
        assert_eq!(OutputSecrecy::from_command(command), want, "{command}");
    }
}

#[test]
fn commands_that_search_for_names_print_no_secret() {
    for command in [
        "grep -rn password src/",
        "rg token src/lexer.rs",
        "sed -n '1,20p' src/token.rs",
        "awk '/secret/' notes.md",
        "jq -r .version package.json",
        "cat src/secrets/mod.rs",
        "cat docs/password.md",
        "terraform output endpoint",
        "cat secrets/db_password.txt | wc -c",
    ] {
        assert_eq!(OutputSecrecy::from_command(command), OutputSecrecy::Ordinary, "{command}");
    }
}
