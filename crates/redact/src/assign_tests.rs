use super::names::{NamePromise, promise};
use super::samples::fill;
use super::secrets;

/// Masks each example and reports what is wrong: the secret is still there, or more than the secret
/// is gone. `kept` must remain of the surrounding text.
fn masked(examples: &[&str]) {
    let mut wrong = Vec::new();
    for example in examples {
        let (text, random) = fill(example);
        // `«` and `»` mark the secret if it is not the expanded placeholder.
        let marked = text.split_once('«').and_then(|(before, rest)| {
            let (secret, after) = rest.split_once('»')?;
            Some((before.to_owned(), secret.to_owned(), after.to_owned()))
        });
        let (before, secret, after) = marked.unwrap_or_else(|| {
            let (before, after) = text.split_once(&random).unwrap();
            (before.to_owned(), random, after.to_owned())
        });
        let text = format!("{before}{secret}{after}");
        let out = secrets(&text);
        let mask = out.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(after.as_str()));
        if !mask.is_some_and(|mask| mask.starts_with("[redacted:") && mask.ends_with(']')) {
            wrong.push(format!("{text}\n   -> {out}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn untouched(examples: &[&str]) {
    let mut wrong = Vec::new();
    for example in examples {
        let (text, _) = fill(example);
        let out = secrets(&text);
        if out != text {
            wrong.push(format!("{text}\n   -> {out}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn environment_lines_are_always_masked() {
    masked(&[
        "DB_PASSWORD=«hunter2»",
        "DB_PASSWORD=«letmein»\nDB_HOST=localhost",
        "DB_PASSWORD=«rosebud»",
        "DB_PASS=«correct-horse»",
        "export API_KEY={alnum:20}",
        "PGPASSWORD=«swordfish» psql -h db",
        "docker run -e SECRET_KEY={alnum:30} image",
        "ENV STRIPE_SECRET={alnum:22}",
        "MY_TOKEN=\"{alnum:10}\"",
        "MY_TOKEN='«some-words»'",
        "SESSION_SECRET=«keyboardcat»",
        "DB_PASSWORD=«{aB3!x9»",
        "DB_PASSWORD=«<aB3!x9»",
        "DB_PASSWORD=«My0123456789!»",
        "DB_PASSWORD=«aB%s9!»",
        "DB_PASSWORD=«%3A%40c9»",
        "API_SECRET=«{lower:30}»",
        "JWT_SECRET=«a!b@c#d$e%f»",
        "AWS_SECRET_ACCESS_KEY={b64:40}",
        "+DB_PASSWORD=«hunter2»",
        "     3→DB_PASSWORD=«hunter2»",
        ".env:3:DB_PASSWORD=«hunter2»",
        "\u{1b}[32mDB_PASSWORD\u{1b}[0m=x DB_PASSWORD=«hunter2»",
        "a\\nDB_PASSWORD=«hunter2»\\nb",
    ]);
}

#[test]
fn references_to_secrets_are_not_secrets() {
    untouched(&[
        "DB_PASSWORD=",
        "DB_PASSWORD=password",
        "POSTGRES_PASSWORD=postgres",
        "amqp://guest:guest@localhost:5672/",
        "https://user:pass@host.example/",
        "OPENAI_API_KEY=sk-...",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxx",
        "DB_PASSWORD=$PASSWORD",
        "DB_PASSWORD=${PASSWORD:-}",
        "DB_PASSWORD=$(cat /run/secrets/db)",
        "DB_PASSWORD=`cat /run/secrets/db`",
        "DB_PASSWORD={{ .Values.password }}",
        "DB_PASSWORD=<your password>",
        "DB_PASSWORD=%DB_PASSWORD%",
        "DB_PASSWORD=********",
        "DB_PASSWORD=xxxx",
        "DB_PASSWORD=null",
        "DB_PASSWORD_FILE=/run/secrets/db_password",
        "password: ${{ secrets.DB_PASSWORD }}",
        "password = var.db_password",
        "password: \"{{ lookup('env', 'PW') }}\"",
        "api_key: !vault |",
        "secret: arn:aws:secretsmanager:eu-west-1:1:secret:db",
        "token: op://vault/item/field",
        "PWD=/home/me/project",
        "OLDPWD=/tmp/x",
        "TOKEN=make_token(1)",
    ]);
}

#[test]
fn configuration_files_are_masked() {
    masked(&[
        "password: «hunter2»",
        "  password: «hunter2» # the old one",
        "password = «hunter2»",
        "password=«hunter2»",
        "password: «letmein»",
        "password: '«letmein»'",
        "passphrase: \"«correct horse battery staple»\"",
        "aws_secret_access_key = {b64:40}",
        "secret_key_base: {hex:64}",
        "//host.example/:_authToken={alnum:36}",
        "_auth = «{alnum:28}»",
        "PrivateKey = «{b64:43}=»",
        "api.key={alnum:24}",
        "spring.datasource.password=«hunter2»",
        "client_secret: {alnum:32}",
        "client-secret: {alnum:32}",
        "password: |\n  «hunter2»",
        "- name: DB_PASSWORD\n  value: «hunter2»",
        "- name: DB_PASSWORD\n  value: \"«hunter2»\"",
        "{\"name\": \"API_TOKEN\", \"value\": \"{alnum:20}\"}",
        "<add key=\"Password\" value=\"«hunter2»\" />",
        "<password>«hunter2»</password>",
        "machine host login me password «hunter2»",
        "Server=db;User Id=sa;Password=«hunter2»;Encrypt=true",
        "AccountName=a;AccountKey=«{alnum:86}==»;EndpointSuffix=x",
        "password = \"\"\"«hunter2»\"\"\"",
        "| Password: «hunter2!» |",
        "password: «aB3,xY9!z»};",
        "password: «aB3;xY9» # old",
        "{password:«hunter2,user:me»}",
    ]);
}

#[test]
fn escaped_json_is_masked() {
    masked(&[
        "{\"password\": \"«hunter2»\"}",
        "{\"password\":\"«hunter2»\",\"user\":\"me\"}",
        "{\"apiKey\": \"{alnum:24}\"}",
        "{\\\"api_key\\\": \\\"{alnum:24}\\\"}",
        "\"{\\\\\\\"token\\\\\\\":\\\\\\\"{alnum:24}\\\\\\\"}\"",
        "&quot;password&quot;: &quot;«hunter2»&quot;",
        "{'secret': '{alnum:24}'}",
        "\"access_token\" : \"{url:40}\",",
        "{\"auth\": \"«YWxpY2U6aHVudGVyMjI=»\"}",
    ]);
}

#[test]
fn literals_in_source_code_are_masked() {
    masked(&[
        "const apiKey = \"{alnum:24}\";",
        "const apiKey: string = '{alnum:24}';",
        "let token: &'static str = \"{alnum:24}\";",
        "static TOKEN: &str = \"{alnum:24}\";",
        "api_key: str = \"{alnum:24}\"",
        "String password = \"«hunter2»\";",
        "password := \"«hunter2»\"",
        "$password = '«hunter2»';",
        "define('DB_PASSWORD', '«letmein»');",
        "os.environ[\"API_KEY\"] = \"{alnum:24}\"",
        "os.getenv(\"X\") or api_key == \"{alnum:24}\"",
        "const apiKey = process.env.API_KEY || \"{alnum:24}\";",
        "token = os.environ.get('TOKEN', '{alnum:24}')",
        "let key = Secret::new(\"{alnum:40}\");",
        "const clientSecret =\n  \"{alnum:40}\";",
        ".header(\"X-Api-Key\", \"{alnum:24}\")",
        "headers: { 'X-Auth-Token': '{alnum:24}' }",
        "client = Client(api_key=\"{alnum:24}\")",
        "CREATE USER app WITH PASSWORD '«hunter2»';",
        "IDENTIFIED BY '«hunter2»'",
        "# password is «hunter2»",
        "// old token: {alnum:32}",
        "if (password === \"«hunter2»\") {",
        "password ||= \"«hunter2»\"",
        "token=b\"{alnum:24}\"",
        "requests.get(url, auth=(\"me\", \"«hunter2»\"))",
        "requests.get(url, auth=HTTPBasicAuth('me', '«hunter2»'))",
    ]);
}

#[test]
fn ordinary_source_code_is_unchanged() {
    untouched(&[
        "token = parser.next_token()",
        "let key = map.key();",
        "password: string",
        "password: string;",
        "password?: string | null",
        "password: Option<String>,",
        "pub token: Token,",
        "pub log_passwd: __u32,",
        "api_key = os.environ[\"X\"]",
        "api_key = os.environ[\"PROD_API_KEY_V2\"]",
        "const token = await getToken(user1, \"read\");",
        "this.password = password;",
        "foo(token=token, password=password)",
        "Client(api_key=settings.API_KEY)",
        "token = tokens[i + 1]",
        "if token == \"identifier\" {",
        "match token { Token::Word => 1 }",
        "for (key, value) in map {",
        "key = \"user.profile.name\"",
        "<input type=\"password\" name=\"password\">",
        "\"password\": \"Password\"",
        "\"password\": \"Enter your password\"",
        "\"passwordHint\": \"At least 8 characters\"",
        "max_tokens: 4096",
        "\"tokens\": 1234",
        "token_count = 12345678901234567890",
        "\"key\": \"{hex:40}\"",
        "cache_key: {alnum:40}",
        "public_key = \"{b64:64}\"",
        "nextPageToken: \"{alnum:40}\"",
        "primary key (id)",
        "keyboard: \"qwerty\"",
        "monkey = \"{alnum:30}\"",
        "headers.set(\"Authorization\", `Bearer ${token}`)",
        "Authorization: Bearer <token>",
        "WWW-Authenticate: Bearer realm=\"api\"",
        "TOKEN = r\"[a-z0-9]+\"",
        "const TOKEN_TYPE = \"access_token\";",
        "grant_type: \"refresh_token\"",
        "credentials: \"same-origin\"",
        "let secret = compute_secret(&seed)?;",
        "password = input(\"Password: \")",
        "scrypt('password', 'salt', 64)",
        "['text', 'password', 'checkbox']",
        "my $mnemonic = $self->{opcode};",
        "proxy_pass http://backend;",
        "#define TOKEN_MAX 10",
        "TOKEN_STRING = 0x04,",
        "--token TOKEN  The token to use",
        "--password string   password for login",
        "see --api-key and --secret-key",
        "Password is required",
        "the token is invalid",
        "The password is correct.",
        "puts(&quot;Password is correct.&quot;);",
        "$password = prompt(\"Password:\");",
        "const E_PASSWORD: i32 = -2141913079i32;",
        "foo(key1, token2, password3)",
        "password: String, token: String",
    ]);
}

#[test]
fn checksums_and_ids_are_unchanged() {
    untouched(&[
        "commit {hex:40}",
        "sha256: {hex:64}",
        "checksum = \"{hex:64}\"",
        "\"integrity\": \"sha512-{b64:86}==\"",
        "session_id: {uuid}",
        "\"id\": \"{uuid}\"",
        "digest = sha256:{hex:64}",
        "ETag: \"{hex:32}\"",
        "data:image/png;base64,{b64:400}",
        "ssh-rsa {b64:372} me@host",
        "at 0x{hex:16} in main",
        "h1:{b64:43}=",
        "index {hex:7}..{hex:7} 100644",
    ]);
}

#[test]
fn command_arguments_are_masked() {
    masked(&[
        "tool --password «hunter2»",
        "tool --password=«hunter2» --verbose",
        "tool --password '«hunter2 x!»'",
        "tool --api-key {alnum:24} run",
        "tool --token={alnum:24}",
        "tool -password «hunter2»",
        "curl -u me:«hunter2» host",
        "curl --user 'me:«hunter2»' host",
        "sshpass -p «hunter2» ssh host",
        "sshpass -p'«hunter2»' ssh host",
        "mysql -uroot -p«hunter2» db",
        "mysqldump -u root -p«hunter2» db",
        "redis-cli -h x -a «hunter2» ping",
        "docker login -u me -p «hunter2» host",
        "openssl rsa -passin pass:«hunter2» -in k",
        "curl -H 'X-Api-Key: {alnum:24}' host",
        "curl -H 'Authorization: token {alnum:40}' host",
        "curl -H 'Authorization: {alnum:40}' host",
        "curl -d 'password=«hunter2»' host",
        "curl -d 'user=me&password=«hunter2»&x=1' host",
    ]);
}

#[test]
fn only_credentials_of_urls_are_masked() {
    masked(&[
        "postgres://app:«hunter2»@db/app",
        "postgres://app:«p»@db/app",
        "mongodb+srv://me:«p@ss»@cluster.example/db",
        "postgres://app:«p/ss»@db/app",
        "amqp://app:«rabbithole»@localhost:5672/",
        "https://host.example/cb?token=«abc»&x=1",
        "https://host.example/cb?x=1&access_token={url:20}#top",
        "https://host.example/cb#access_token={url:20}&x=1",
        "https://host.example/f?X-Amz-Signature={hex:64}",
        "https://host.example/f?sv=1&sig=«{alnum:43}%3D»",
        "jdbc:postgresql://db/app?user=me&password=«hunter2»",
    ]);
    untouched(&[
        "https://host.example:8443/a@b",
        "https://host.example/?page=2&sort=key",
        "http://[::1]:8080/",
        "postgres://${USER}:${PASS}@db/app",
        "postgres://{user}:{password}@db/app",
        "https://unpkg.example/react@18/index.js",
        "https://host.example/?token=${token}",
        "https://host.example/?token=<token>",
        "file:///etc/passwd",
    ]);
}

#[test]
fn secrets_in_prose_are_masked() {
    masked(&[
        "my api key is {lower:24}, use it",
        "the password for admin: «hunter2»",
        "password for the database is «hunter2»",
        "use token {hex:24} to call it",
        "aws configure set aws_secret_access_key {b64:40}",
        "git config user.password «hunter2»",
        "pass: «hunter2»",
        "contraseña: «secreto99»",
        "密码：«hunter2abc»",
        "Пароль: «qwerty99»",
        "mot de passe: «azerty12»",
        "docker run --env=DB_PASSWORD=«letmein» image",
        "SECRET_KEY = '«x-{alnum:24}$!#^*(»'",
    ]);
    untouched(&[
        "pass: 12, fail: 3",
        "# pass 12",
        "PASS src/app.test.ts",
        "password for admin: required",
        "the key to success",
        "token refresh failed",
        "password varchar(255) not null",
        "primary key: {alnum:30}",
        "token, value = get_domain(value[1:])",
        "a two-pass memchr2+SWAR loop",
        "'OAuth': ('oauth_get', 'oauth_urlencode'),",
        "you can pass `spec=True1` here",
        "columns identified by \"colUsed2\"",
        "SAFE_TOKEN = \"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\"",
        "TOKEN_RE = \"^[a-z0-9_]{16,40}$\"",
    ]);
}

#[test]
fn last_noun_decides_what_a_name_promises() {
    for (name, want) in [
        ("password", Some(NamePromise::Password)),
        ("dbPassword", Some(NamePromise::Password)),
        ("PGPASSWORD", Some(NamePromise::Password)),
        ("PASSWORD_PROD", Some(NamePromise::Password)),
        ("password2", Some(NamePromise::Password)),
        ("smtp_pass", Some(NamePromise::Password)),
        ("apiKey", Some(NamePromise::Token)),
        ("APIKey", Some(NamePromise::Token)),
        ("x-api-key", Some(NamePromise::Token)),
        ("accessToken", Some(NamePromise::Token)),
        ("client_secret", Some(NamePromise::Token)),
        ("tokenBase64", Some(NamePromise::Token)),
        ("AWS_SECRET_ACCESS_KEY", Some(NamePromise::Token)),
        ("key", Some(NamePromise::Weak)),
        ("auth", Some(NamePromise::Weak)),
        ("pass", Some(NamePromise::Maybe)),
        ("token_count", None),
        ("tokens", None),
        ("max_token", None),
        ("next_token", None),
        ("nextPageToken", None),
        ("key_id", None),
        ("public_key", None),
        ("primaryKey", None),
        ("monkey", None),
        ("passenger", None),
        ("compass", None),
        ("secretary", None),
        ("old_string", None),
        ("", None),
        ("___", None),
        ("123", None),
    ] {
        assert_eq!(promise(name.as_bytes()), want, "name {name:?}");
    }
}
