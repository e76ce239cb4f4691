//! Secrets in many places, by mechanism. All texts are invented; `{alphabet:n}` expands to random
//! bytes.

use super::samples::fill;
use super::{HeadTailLimit, secrets, text};

/// Whether nothing of the random part of the expanded text is left.
fn leaks(example: &str) -> Option<String> {
    let (input, random) = fill(example);
    let out = secrets(&input).into_owned();
    let part = random.len().min(9);
    let leak = random.as_bytes().windows(part).any(|w| super::value_form::contains(out.as_bytes(), w));
    leak.then(|| format!("{input}\n   -> {out}"))
}

fn hidden(examples: &[&str]) {
    let wrong: Vec<String> = examples.iter().filter_map(|example| leaks(example)).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn untouched(examples: &[&str]) {
    let wrong: Vec<String> = examples
        .iter()
        .map(|example| (example, secrets(example)))
        .filter(|(example, out)| out != **example)
        .map(|(example, out)| format!("{example}\n   -> {out}"))
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn arguments_of_commands_are_masked() {
    hidden(&[
        "curl -udeploy:{lower:9}!7{lower:4} https://ci.example.com",
        "curl --proxy-user corp:{lower:9}!7{lower:4} https://x.example",
        "mongosh --host db -u admin -p {lower:9}!7{lower:4} --authenticationDatabase admin",
        "printf 'AUTH {lower:9}!7{lower:4}\\r\\nPING\\r\\n' | nc cache 6379",
        "redis-cli CONFIG SET requirepass {lower:9}!7{lower:4}",
        "SSHPASS={lower:9}!7{lower:4} sshpass -e ssh root@10.0.0.4",
        "echo {lower:9}!7{lower:4} | docker login -u me --password-stdin registry.example.com",
        "echo '{lower:9}!7{lower:4}' | sudo -S systemctl restart nginx",
        "echo 'deploy:{lower:9}!7{lower:4}' | sudo chpasswd",
        "htpasswd -cb /etc/nginx/.htpasswd admin {lower:9}!7{lower:4}",
        "smbclient //nas/share -U 'CORP/bob%{lower:9}!7{lower:4}' -c ls",
        "ldapsearch -x -D cn=admin,dc=corp -w {lower:9}!7{lower:4} -b dc=corp",
        "7z x -p{lower:9}!7{lower:4} backup.7z",
        "zip -r -P {lower:9}!7{lower:4} backup.zip data/",
        "sqlcmd -S db -U sa -P {lower:9}!7{lower:4} -Q 'select 1'",
        "keytool -list -keystore k.jks -storepass {lower:9}!7{lower:4}",
        "http -a bob:{lower:9}!7{lower:4} GET https://x.example/api",
        "rabbitmqctl add_user app {lower:9}!7{lower:4}",
        "kubectl create secret generic db --from-literal=DSN=x --from-literal=adminpw={lower:9}!7{lower:4}",
        "gh secret set NPM_AUTH --body {lower:9}!7{lower:4}",
        "heroku config:set MAILGUN_SMTP={lower:9}!7{lower:4} -a app",
        "lftp -u bob,{lower:9}!7{lower:4} ftp.example.com",
        "mysql -e \"SET PASSWORD FOR 'app'@'%' = PASSWORD('{lower:9}!7{lower:4}')\"",
        "expect -c 'spawn ssh a@b; expect \"password:\"; send \"{lower:9}!7{lower:4}\\r\"; interact'",
    ]);
}

#[test]
fn arguments_of_other_commands_are_masked() {
    hidden(&[
        "cqlsh db -u cassandra -p {lower:9}!7{lower:4}",
        "mongodump --uri x -u a -p {lower:9}!7{lower:4} -d app",
        "pg_restore --password {lower:9}!7{lower:4} x",
        "skopeo copy --src-creds bob:{lower:9}!7{lower:4} docker://a docker://b",
        "helm repo add x https://r --username bob --password {lower:9}!7{lower:4}",
        "oc login https://c -u bob -p {lower:9}!7{lower:4}",
        "cf login -a x -u bob -p {lower:9}!7{lower:4}",
        "echo -n '{lower:9}!7{lower:4}' | gh secret set FOO",
        "printf '%s' '{lower:9}!7{lower:4}' | docker secret create db -",
        "wrangler secret put KEY <<< '{lower:9}!7{lower:4}'",
        "dotnet user-secrets set Db:Pw {lower:9}!7{lower:4}",
        "fly secrets set MAILER={lower:9}!7{lower:4}",
        "az keyvault secret set --vault-name v -n x --value {lower:9}!7{lower:4}",
        "aws ssm put-parameter --name /a --type SecureString --value {lower:9}!7{lower:4}",
        "aws secretsmanager create-secret --name a --secret-string {lower:9}!7{lower:4}",
        "ldapwhoami -D cn=a -w {lower:9}!7{lower:4}",
        "kinit bob <<< {lower:9}!7{lower:4}",
        "unrar x -p{lower:9}!7{lower:4} a.rar",
        "7za a -p{lower:9}!7{lower:4} x.7z d",
        "xfreerdp /u:bob /p:{lower:9}!7{lower:4} /v:h",
        "sqlplus scott/{lower:9}!7{lower:4}@orcl",
        "impdp system/{lower:9}!7{lower:4}@db directory=x",
        "bw unlock {lower:9}!7{lower:4}",
        "vault operator unseal {lower:9}!7{lower:4}",
        "npm config set //r.example/:_password {lower:9}!7{lower:4}",
        "cargo login {lower:9}!7{lower:4}",
        "wpa_passphrase Home {lower:9}!7{lower:4}",
        "useradd -m -p {lower:9}!7{lower:4} bob",
        "security unlock-keychain -p {lower:9}!7{lower:4} x.keychain",
        "ipmitool -H h -U admin -P {lower:9}!7{lower:4} power status",
        "snmpwalk -v3 -u bob -A {lower:9}!7{lower:4} h",
        "plink -pw {lower:9}!7{lower:4} bob@h",
        "curl --oauth2-bearer {lower:9}!7{lower:4} https://x",
        "curl -sSL --proxy-user bob:{lower:9}!7{lower:4} https://x -o f",
        "jenkins-cli -auth bob:{lower:9}!7{lower:4} list-jobs",
        "influx -username a -password {lower:9}!7{lower:4} -execute 'x'",
        "psql \"postgres://a:{lower:9}!7{lower:4}@h/db\"",
        "redis-cli -u redis://:{lower:9}!7{lower:4}@h:6379",
        "ssh host \"mysql -uroot -p{lower:9}!7{lower:4} app\"",
        "kubectl create secret docker-registry r --docker-username=a --docker-password={lower:9}!7{lower:4}",
        "ansible-vault encrypt_string '{lower:9}!7{lower:4}' --name x",
        "echo 'bob:{lower:9}!7{lower:4}' | chpasswd -e",
        "echo \"{lower:9}!7{lower:4}\" | passwd --stdin root",
        "export SSHPASS='{lower:9}!7{lower:4}'; sshpass -e ssh h",
        "docker run -e MYSQL_ROOT_PASSWORD={lower:9}!7{lower:4} mysql",
        "docker run --env POSTGRES_PASSWORD='{lower:9}!7{lower:4}' -d postgres",
        "kubectl run x --env=\"DB_PASS={lower:9}!7{lower:4}\"",
        "git remote set-url origin https://bob:{lower:9}!7{lower:4}@h/x.git",
        "http --auth bob:{lower:9}!7{lower:4} https://x",
        "smbclient -L h -U bob%{lower:9}!7{lower:4}",
        "mount -t cifs //n/s /m -o user=bob,pass={lower:9}!7{lower:4}",
        "net user bob {lower:9}!7{lower:4} /add",
        "cmdkey /add:h /user:bob /pass:{lower:9}!7{lower:4}",
        "xmpp --jid a@b --password={lower:9}!7{lower:4}",
        "hydra -l bob -p {lower:9}!7{lower:4} ssh://h",
        "nmcli con modify x wifi-sec.psk {lower:9}!7{lower:4}",
        "openssl enc -aes-256-cbc -pass pass:{lower:9}!7{lower:4} -in a",
        "openssl pkcs12 -export -passout 'pass:{lower:9}!7{lower:4}' -in a",
        "gpg --batch --yes --passphrase '{lower:9}!7{lower:4}' -c f",
        "ssh-keygen -p -P {lower:9}!7{lower:4} -N '' -f k",
        "htpasswd -nb bob {lower:9}!7{lower:4}",
        "pdftk a.pdf input_pw {lower:9}!7{lower:4} output b.pdf",
        "qpdf --password={lower:9}!7{lower:4} --decrypt a b",
        "mosquitto_sub -u a -P {lower:9}!7{lower:4} -t x",
        "tailscale up --authkey {lower:9}!7{lower:4}",
        "twine upload -u bob -p {lower:9}!7{lower:4} dist/*",
        "poetry config http-basic.x bob {lower:9}!7{lower:4}",
        "mc alias set m http://h bob {lower:9}!7{lower:4}",
        "s3cmd --secret_key={lower:9}!7{lower:4} ls",
        "rclone config create r s3 secret_access_key={lower:9}!7{lower:4}",
        "sudo -S ls <<< '{lower:9}!7{lower:4}'",
        "expect -c 'send \"{lower:9}!7{lower:4}\\n\"'",
    ]);
}

#[test]
fn values_in_fixed_places_are_masked() {
    hidden(&[
        "uri ldap://x\nbinddn cn=a\nbindpw {lower:9}!7{lower:4}\n",
        "10.0.0.1 10.0.0.2 : PSK \"{lower:9}!7{lower:4}\"\n",
        "hostname r1\nenable secret 0 {lower:9}!7{lower:4}\n",
        "username admin privilege 15 secret 0 {lower:9}!7{lower:4}\n",
        "bind 0.0.0.0\nrequirepass {lower:9}!7{lower:4}\nmaxmemory 1gb",
        "network={\n  ssid=\"Home\"\n  psk=\"{lower:9}!7{lower:4}\"\n}",
        "[smtp.x.com]:587 bob@x.com:{lower:9}!7{lower:4}\n",
        "db.prod:5432:app:app:{lower:9}!7{lower:4}",
        "jdbc:oracle:thin:scott/{lower:9}!7{lower:4}@//db:1521/ORCL",
        "root:{lower:9}!7{lower:4}@tcp(127.0.0.1:3306)/app?parseTime=true",
        "<Pass encoding=\"base64\">{b64:20}</Pass>",
        "DBI->connect('dbi:mysql:x', 'root', '{lower:9}!7{lower:4}')",
        "client.login('bob', '{lower:9}!7{lower:4}')",
        "const t = jwt.sign(payload, '{alnum:20}');",
        "DriverManager.getConnection(url, \"root\", \"{lower:9}!7{lower:4}\");",
        "$c = new mysqli('db', 'root', '{lower:9}!7{lower:4}', 'app');",
        "new NetworkCredential(\"bob\", \"{lower:9}!7{lower:4}\")",
        "$p = ConvertTo-SecureString '{lower:9}!7{lower:4}' -AsPlainText -Force",
        "ARG NPM_PW={lower:9}!7{lower:4}\n",
        "AUTH PLAIN {b64:28}",
        "127.0.0.1:6379> AUTH {lower:9}!7{lower:4}\nOK",
        "a1 LOGIN bob {lower:9}!7{lower:4}\na1 OK",
        "A temporary password is generated for root@localhost: {lower:9}!7{lower:4}",
        "password:\n  {lower:9}!7{lower:4}\n",
        "$ gh auth token\n{alnum:40}",
        "users:\n- name: a\n  user:\n    client-key-data: {b64:200}\n",
        "DB_PASSWORD='my {lower:9}!7{lower:4} x'",
        "{\"Parameters\":[{\"Name\":\"/prod/x\",\"Type\":\"SecureString\",\"Value\":\"{lower:9}!7{lower:4}\",\"Version\":1}]}",
        "{\"id\":\"https://v.vault.azure.net/secrets/db-password/1\",\"value\":\"{lower:9}!7{lower:4}\"}",
        "{\"name\":\"ADMIN_PASSWORD\",\"type\":\"plain\",\"value\":\"{lower:9}!7{lower:4}\"}",
        "{\"value\":\"{lower:9}!7{lower:4}\",\"name\":\"ADMIN_PASSWORD\"}",
        "{\"smtp_password\":{\"sensitive\":true,\"type\":\"string\",\"value\":\"{lower:9}!7{lower:4}\"}}",
        "{\\\"Name\\\":\\\"/prod/db/password\\\",\\\"Type\\\":\\\"String\\\",\\\"Value\\\":\\\"{lower:9}!7{lower:4}\\\"}",
        "{\"ARN\":\"arn:aws:x\",\"Name\":\"prod\",\"SecretString\":\"{lower:9}!7{lower:4}\"}",
        "NODE_ENV=production\nAPP_SALT={alnum:32}\nPORT=80\n",
    ]);
}

#[test]
fn columns_with_a_telling_header_are_masked() {
    hidden(&[
        "user\tpassword\tdb\nbob\t{lower:9}!7{lower:4}\tapp\n",
        "+------+----------------+\n| user | password       |\n+------+----------------+\n| root | {lower:9}!7{lower:4} |\n+------+----------------+\n",
        "| Service | API key |\n| --- | --- |\n| mail | {alnum:32} |\n",
        "\"name\",\"login\",\"password\"\n\"Mail\",\"bob\",\"{lower:9}!7{lower:4}\"\n",
        "User name,Access key ID,Secret access key\nbob,none,{b64:40}\n",
        "host;user;passwort\ndb;bob;{lower:9}!7{lower:4}\n",
        "USER      PASSWORD        ROLE\nbob       {lower:9}!7{lower:4}  admin\n",
        "INSERT INTO users (email, password, role) VALUES ('a@b.c', '{lower:9}!7{lower:4}', 'x')",
        "id|username|password\n1|bob|{lower:9}!7{lower:4}\n",
        "-[ RECORD 1 ]--+----\nid | 4\nuser_password | {lower:9}!7{lower:4}\n",
        " username | password \n----------+----------\n admin    | {lower:9}!7{lower:4}\n(1 row)",
    ]);
}

#[test]
fn sentences_in_many_languages_are_masked() {
    hidden(&[
        "Le mot de passe : {lower:9}!7{lower:4}",
        "mot de passe temporaire: {lower:9}!7{lower:4}",
        "la clave es {lower:9}!7{lower:4}",
        "contraseña temporal: {lower:9}!7{lower:4}",
        "senha: {lower:9}!7{lower:4}",
        "a senha é {lower:9}!7{lower:4}",
        "Das neue Kennwort ist {lower:9}!7{lower:4}",
        "Passwort für root: {lower:9}!7{lower:4}",
        "het wachtwoord is {lower:9}!7{lower:4}",
        "lösenordet är {lower:9}!7{lower:4}",
        "lösenord: {lower:9}!7{lower:4}",
        "hasło to {lower:9}!7{lower:4}",
        "heslo je {lower:9}!7{lower:4}",
        "jelszó: {lower:9}!7{lower:4}",
        "parola è {lower:9}!7{lower:4}",
        "пароль: {lower:9}!7{lower:4}",
        "пароль - {lower:9}!7{lower:4}",
        "пароль от админки {lower:9}!7{lower:4}",
        "パスワードは{lower:9}!7{lower:4}です",
        "パスワード：{lower:9}!7{lower:4}",
        "密码是{lower:9}!7{lower:4}",
        "密碼：{lower:9}!7{lower:4}",
        "비밀번호는 {lower:9}!7{lower:4}",
        "비밀번호: {lower:9}!7{lower:4}",
        "şifrem {lower:9}!7{lower:4}",
        "şifre: {lower:9}!7{lower:4}",
        "mật khẩu là {lower:9}!7{lower:4}",
        "mật khẩu: {lower:9}!7{lower:4}",
        "รหัสผ่าน {lower:9}!7{lower:4}",
        "סיסמה: {lower:9}!7{lower:4}",
        "كلمة السر هي {lower:9}!7{lower:4}",
        "kata sandi: {lower:9}!7{lower:4}",
        "use user bob and password {lower:9}!7{lower:4}",
        "ssh root@10.0.0.4, pw {lower:9}!7{lower:4}",
        "credentials: admin / {lower:9}!7{lower:4}",
        "login is admin, password {lower:9}!7{lower:4}",
        "pwd: {lower:9}!7{lower:4}",
        "pass is {lower:9}!7{lower:4}",
        "passwd -> {lower:9}!7{lower:4}",
        "creds bob:{lower:9}!7{lower:4}",
        "the wifi password is '{lower:9}!7{lower:4}'",
        "root pw = {lower:9}!7{lower:4}",
        "pw for staging: {lower:9}!7{lower:4}",
    ]);
}

/// A password of a form that few other words have is found without the grammar of its sentence.
#[test]
fn formed_passwords_are_found_in_any_grammar() {
    for told in [
        "Lösenordet till servern är Amber7Falcon, laga skriptet.",
        "Heslo k databázi je Amber7Falcon, oprav připojení.",
        "přihlas se jako admin s heslem Amber7Falcon",
        "Az adatbázis jelszava Amber7Falcon, javítsd.",
        "Parola pentru baza de date este Amber7Falcon, repară.",
        "Veritabanı şifresi Amber7Falcon, bağlantıyı düzelt.",
        "admin kullanıcısı ve Amber7Falcon şifresi ile gir",
        "Пароль до бази Amber7Falcon, виправ.",
        "Логин admin пароль Amber7Falcon, зайди",
        "Ο κωδικός της βάσης είναι Amber7Falcon, διόρθωσε.",
        "Mật khẩu của máy chủ là Amber7Falcon, sửa giúp tôi.",
        "Kata sandi untuk basis data adalah Amber7Falcon, perbaiki.",
        "كلمة المرور للخادم هي Amber7Falcon من فضلك",
        "הסיסמה לשרת היא Amber7Falcon תתקן בבקשה",
        "डेटाबेस का पासवर्ड Amber7Falcon है",
        "connecte-toi avec admin et le mot de passe Amber7Falcon",
        "entra con usuario admin y contraseña Amber7Falcon",
        "entre com o usuário admin e a senha Amber7Falcon",
        "zaloguj się jako admin z hasłem Amber7Falcon",
        "log in met admin en wachtwoord Amber7Falcon",
    ] {
        let masked = secrets(told);
        assert!(!masked.contains("Amber7Falcon"), "{masked}");
    }
    untouched(&[
        "La contraseña se guarda en UserService2, no en la sesión.",
        "Das Formular. Le mot de passe expire. Voir ensuite Config2Loader pour le reste.",
        "Пароль хешируется с SHA256 и солью.",
        "la contraseña usa OAuth2 y AES256",
        "senha: veja o módulo PasswordReset",
        "şifre sıfırlama ekranı: ResetForm2",
    ]);
}

#[test]
fn wrapped_and_joined_passwords_are_masked() {
    for (text, secret) in [
        ("Config { host: \"db\", password: Some(\"Amber7Falcon\"), port: 5432 }", "Amber7Falcon"),
        ("password: Secret::new(\"Amber7Falcon\"),", "Amber7Falcon"),
        ("password = new Password('Amber7Falcon')", "Amber7Falcon"),
        ("ansible-playbook a.yml -e \"ansible_become_pass=Amber_Falcon8 env=prod\"", "Amber_Falcon8"),
        ("POST: {'username': ['eve'], 'password': ['Amber7Falcon']}", "Amber7Falcon"),
        ("const secret = process.env.JWT_SECRET || \"Amber7Falcon9\"", "Amber7Falcon9"),
        ("token = os.environ.get(\"API_TOKEN\", \"Amber7Falcon9\")", "Amber7Falcon9"),
        ("defaults: &d\n  password: &pw Amber7Falcon\n", "Amber7Falcon"),
        ("220 ready\nUSER ina\n331 password please\nPASS Amber7Falcon\n230 ok", "Amber7Falcon"),
        (
            "Use the following password to log in:\n\n4f9a0c7de2b1458fa6d07c91b3e2f448\n\nDone.",
            "4f9a0c7de2b1458fa6d07c91",
        ),
        ("Logge dich mit admin/Amber7Falcon ein.", "Amber7Falcon"),
        ("influx write -t vbnRD593Yk2wLsQ7xKd2 -b metrics \"m v=1\"", "vbnRD593Yk2wLsQ7xKd2"),
        ("pg_dump \"host=db user=app password=Amber_Falcon8 dbname=shop\"", "Amber_Falcon8"),
    ] {
        let masked = secrets(text);
        assert!(!masked.contains(secret), "{masked}");
    }
    untouched(&[
        "password: Some(\"reset\")",
        "password=Some(input)",
        "login(user=user, password=User_Password2)",
        "f(password: Option_V2, port: 1)",
        "password = env(\"DB_PASS1\")",
        "const token = process.env.API_TOKEN || \"ServiceToken22\"",
        "const key = env.KEY2 || \"user.Profile22.name\"",
        "passwords: ['short', 'long']",
        "login tests\nok 3\nPASS src/Login2.test.ts",
        "fn f(token: &str, password: &str) -> u8 {",
        "Choose a password of these kinds:\n\nletters\n",
        "The password is checked against the commit:\n\nsrc/auth/Login2Form.ts\n",
    ]);
}

#[test]
#[allow(clippy::too_many_lines, reason = "one line for each text")]
fn ordinary_texts_are_unchanged() {
    untouched(&[
        "the password field must not be empty",
        "curl -u \"$USER:$PASS\" https://x",
        "mysql -u root -p app < dump.sql",
        "docker login -u me registry.example.com",
        "const password = await bcrypt.hash(plain, 10);",
        "git commit -m \"fix: handle -p option in mysql wrapper\"",
        "echo \"hello world\" | sudo tee /etc/motd",
        "echo hello | base64",
        "printf '%s\n' \"$TOKEN\" | docker login --password-stdin",
        "id,name,email,created_at\n1,Bob,b@x.io,2024-01-01T10:00:00Z",
        "| column | type | password |\n|---|---|---|\n| name | text | varchar(255) |",
        "{\"name\": \"theme\", \"value\": \"dark-mode-2024\"}",
        "{\"name\":\"version\",\"value\":\"1.2.3-beta.4\"}",
        "{\"type\":\"object\",\"properties\":{\"password\":{\"type\":\"string\",\"minLength\":8}}}",
        "{\"key\":\"user.name\",\"value\":\"Alice Smith\"}",
        "{\"sensitive\":false,\"value\":\"eu-central-1a\"}",
        "kind: Deployment\nmetadata:\n  name: x\ndata:\n  a: b",
        "kind: SecretProviderClass\nspec:\n  parameters:\n    a: b1c2d3e4",
        "the PIN diode is rated 1200 V",
        "GPIO pin: 17",
        "pin = 13",
        "otp: disabled",
        "card 12 of 40",
        "business card layout 2024",
        "iban validation is missing",
        "login: POST /api/v1/login 200 12ms",
        "log in with your GitHub account to continue",
        "log in with SSO and open settings/profile2",
        "credentials: include",
        "credentials: same-origin",
        "seed phrase must have 12 words",
        "export PATH=/usr/local/bin:/usr/bin:$HOME/.cargo/bin",
        "GIT_COMMIT=4f2a9c1e8b7d6f5a4c3b2a1908f7e6d5c4b3a291",
        "BUILD_TAG=jenkins-Main-Build-1234",
        "IMAGE=registry.example.com/team/app:2024.10.01-abcdef1",
        "NODE_OPTIONS=--max-old-space-size=4096",
        "test(\"rejects short passwords\", () => { expect(validate(\"short\")).toBe(false) })",
        "password: z.string().min(8)",
        "assert login(\"alice\", \"wrong\") == 401",
        "jwt.verify(token, process.env.JWT_SECRET)",
        "bcrypt.compare(password, user.passwordHash)",
        "createHash('sha256').update(data).digest('hex')",
        "POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?required}",
        "POSTGRES_PASSWORD=${POSTGRES_PASSWORD:-postgres}",
        "API_KEY=your_api_key_here",
        "SECRET_KEY=changeme",
        "TOKEN=<your-token>",
        "https://example.com/?gclid=EAIaIQobChMI7v2Zq5a8gwMVkZ9oCR3Qpw0XEAAYASAAEgJ1PfD_BwE",
        "https://example.com/?utm_source=x&fbclid=IwAR2xK3fQ9vTz8mN4pL7sR1wYbC6dE5gH0jU_aXo2iV",
        "please pass: config=prod2024 to the script",
        "sha512-OLDfXXKeJdM9f2nLXkBkqAn9ZbMJ0Pq+hZ2CbD/0x8+Yp1q7rV8wX2kTz3mN4pL7sR1wYbC6dE5gH0jUaXo2i==",
        "eyJ2ZXJzaW9uIjozLCJmaWxlIjoibWFpbi5qcyIsInNvdXJjZXMiOlsiLi4vc3JjL21haW4udHMiXSwibmFtZXMiOltdfQ==",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8s0pQm1xv2Yz3kT4nL5sR6wYbC7dE8gH9jU0aXo1iV me@host",
        "gpg: key 0xA1B2C3D4E5F60718: public key imported",
        "Cache hit for key: node-modules-linux-x64-8f14e45fceea167a5a36dedd4bea2543",
        "\"resolved\": \"https://registry.example.org/lodash/-/lodash-4.17.21.tgz#679591c564c3bffaae8454cf0b3df370c3d6911c\"",
        "SELECT user, password FROM accounts WHERE id = 1;",
        "INSERT INTO users (name, password) VALUES (?, ?);",
        "INSERT INTO settings (key, value) VALUES ('theme', 'dark2024');",
        "CREATE TABLE users (id int, password varchar(60) not null);",
        "fn login(user: &str, password: &str) -> Result<Token>",
        "def authenticate(username, password, otp=None):",
        "user, password = parse(line)",
        "password, token, secret := a, b, c",
        "Usage: tool [--password PASSWORD] [--token TOKEN]",
        "  -p, --password string   password for login (default \"\")",
        "zip -r backup.zip data/",
        "7z x archive.7z -oout",
        "openssl dgst -sha256 -hmac key file",
        "openssl x509 -in cert.pem -noout -text",
        "ssh-keygen -t ed25519 -N \"\" -f key",
        "ssh-keygen -lf key.pub",
        "rsync -avz -p src/ dst/",
        "mkdir -p build/output2024",
        "docker run -p 8080:80 nginx:1.25",
        "kubectl create secret generic db --from-file=./db.txt",
        "vault kv put secret/app @data.json",
        "heroku config:set LOG_LEVEL=debug",
        "gh secret set FOO < foo.txt",
        "aws ssm get-parameter --name /prod/db/password",
        "terraform output -raw db_password",
        "psql -h db -U app -c 'select 1'",
        "ansible-playbook -e env=production2 site.yml",
        "npm config set registry https://registry.example.com/",
        "cargo login",
        "expect(send).toBeCalled()",
        "mongosh mongodb://localhost:27017/app",
        "redis-cli -h cache -p 6379 ping",
        "smbclient -L //nas -U guest",
        "http GET https://x.example/api a==1",
        "The mot de passe oublié page is broken",
        "das Passwort ist falsch",
        "la contraseña es incorrecta",
        "пароль не подходит",
        "パスワードが違います",
        "密码错误",
        "el token es inválido",
        "\"password_confirmation\": \"must match\"",
        "\"passwordStrength\": \"Use 8 or more characters\"",
        "salt and pepper: 2 tsp",
        "const SALT_ROUNDS = 10;",
        "salt = os.urandom(16)",
        "psk: enabled",
        "compass: \"north-2024x\"",
        "bypass: true2024x",
        "\\u0050lease try again",
        "caf\\u00e9 password field",
        "100%22 off",
        "%3Ca%20href%3D%22https%3A%2F%2Fexample.com%22%3E",
        "\u{1b}[32mPASS\u{1b}[0m src/login.test.ts",
        "\u{1b}[1mtoken\u{1b}[0m: 3 occurrences",
        "Tue Nov 17 14:22:04 UTC 2026 load average: 14.51",
        "key: value\nother: thing",
        "Enter passphrase for key '/home/u/.ssh/id_ed25519':",
        "Password:",
        "Generated password: (hidden)",
        "New password has been sent to bob@x.io",
        "value M: Module.exports.default",
        "assert_eq!(token, \"abc123\");",
        "token: \"identifier\"",
        "const apiKey = import.meta.env.VITE_API_KEY;",
        "Authorization: Bearer <token>",
        "-----BEGIN CERTIFICATE REQUEST-----\nMIICvDCCAaQCAQAwdzELMAkGA1UEBhMCVVMxDTALBgNVBAgMBFV0YWgxDzANBgNV\n-----END CERTIFICATE REQUEST-----",
    ]);
}

#[test]
fn long_secrets_are_masked_whole() {
    for example in [
        "client_secret = \"{b64:3000}\"",
        "secret: {b64:5000}",
        "https://u:{url:600}@h.example/x",
        "https://u:{url:6000}@h.example/x",
        "https://h.example/x?sig={alnum:1500}&z=1",
        "Cookie: a={alnum:6000}; b=1",
        "export TOKEN={alnum:3000}",
        "{\"access_token\": \"{url:2000}\"}",
        "{\\\"refresh_token\\\":\\\"{alnum:5000}\\\"}",
        "deploy --token {alnum:2500} --now",
        "<apiToken>{alnum:2500}</apiToken>",
        "curl -H 'Authorization: Bearer {alnum:5000}' https://x",
        "curl -u bob:{alnum:6000} https://x",
        "client-key-data: {b64:2300}",
    ] {
        let (input, random) = fill(example);
        let out = secrets(&input);
        for at in (0..random.len() - 12).step_by(7) {
            assert!(!out.contains(&random[at..at + 12]), "{example}: byte {at} of {}", random.len());
        }
    }
}

#[test]
fn encoded_texts_are_decoded_once() {
    let encode = |text: &str| {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digit = |bits: u32| char::from(DIGITS[(bits & 63) as usize]);
        let padded: Vec<u8> =
            text.bytes().chain(std::iter::repeat_n(b'\n', (3 - text.len() % 3) % 3)).collect();
        let groups =
            padded.chunks_exact(3).map(|b| u32::from(b[0]) << 16 | u32::from(b[1]) << 8 | u32::from(b[2]));
        groups.flat_map(|bits| [bits >> 18, bits >> 12, bits >> 6, bits].map(digit)).collect::<String>()
    };
    let (line, _) = fill("{b64:64}");
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----\n",
        format!("{line}\n").repeat(24)
    );
    let (env, _) = fill("NODE_ENV=production\nDB_PASSWORD={alnum:12}\n");
    let (token, _) = fill("the token is ghp_{alnum:36}, use it");
    for text in [&key, &env, &token] {
        let encoded = encode(text);
        let wrapped: Vec<&str> =
            encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
        for carrier in [
            encoded.clone(),
            format!("X={encoded}"),
            format!("data:a/b;base64,{encoded}"),
            wrapped.join("\n"),
        ] {
            let out = secrets(&carrier);
            assert!(out.contains("[redacted:") && !out.contains(&encoded[16..40]), "{carrier} -> {out}");
            assert!(!out.contains(&encoded[encoded.len() - 24..encoded.len() - 4]), "{out}");
        }
    }
    let hex: String = token
        .bytes()
        .flat_map(|b| [b >> 4, b & 15])
        .map(|d| char::from(b"0123456789abcdef"[usize::from(d)]))
        .collect();
    assert_eq!(secrets(&hex), "[redacted:encoded-secret]");
    // Harmless texts stay, and so does what is no text.
    let harmless = encode("{\"version\":3,\"file\":\"main.js\",\"sources\":[\"main.ts\"]}");
    assert_eq!(secrets(&harmless), harmless);
    let (binary, _) = fill("{b64:400}");
    assert_eq!(secrets(&binary), binary);
}

#[test]
fn key_without_header_is_masked_and_certificate_is_not() {
    let (line, _) = fill("{b64:64}");
    let lines = [line.as_str(); 5].join("\n");
    assert_eq!(secrets(&lines), "[redacted:private-key]");
    let certificate = format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----");
    assert_eq!(secrets(&certificate), certificate);
}

#[test]
fn manifest_is_a_block_by_structure() {
    let (big, _) = fill("{b64:9000}");
    let (secret, _) = fill("{b64:24}");
    for text in [
        format!(
            "apiVersion: v1\ndata:\n  conn: {secret}\n  tls.crt: {big}\nkind: Secret\nmetadata:\n  name: db\n"
        ),
        format!("kind: Secret\nmetadata:\n  note: {big}\nstringData:\n  conn: {secret}\n"),
        format!("{{\"apiVersion\":\"v1\",\"data\":{{\"dsn\":\"{secret}\"}},\"kind\":\"Secret\"}}"),
        format!("{{\\\"kind\\\":\\\"Secret\\\",\\\"data\\\":{{\\\"dsn\\\":\\\"{secret}\\\"}}}}"),
        format!(
            "items:\n- apiVersion: v1\n  data:\n    a: {secret}\n  kind: Secret\n- apiVersion: v1\n  data:\n    b: {secret}\n  kind: Secret\n"
        ),
        format!("data:\n  a: {secret}\nstringData:\n  b: {secret}\nkind: Secret\n"),
    ] {
        let out = secrets(&text);
        assert!(!out.contains(&secret), "{text} -> {out}");
    }
    let config = format!("kind: Secret\ndata:\n  a: {secret}\n---\nkind: ConfigMap\ndata:\n  b: plain\n");
    assert!(secrets(&config).ends_with("---\nkind: ConfigMap\ndata:\n  b: plain\n"));
}

#[test]
fn hidden_spellings_of_a_secret_are_read() {
    for example in [
        "{\"t\":\"\\u0067hp_{alnum:36}\"}",
        "{\"\\u0070assword\":\"{alnum:20}\"}",
        "body=%7B%22password%22%3A%22{alnum:14}%22%7D",
        "DB_PASS\u{200b}WORD={alnum:14}",
        "DB_PASSWORD＝{alnum:14}",
    ] {
        assert_eq!(leaks(example), None);
    }
    let (token, _) = fill("ghp_{alnum:36}");
    for broken in ["\n", "\\\n", "\u{1b}[1;31m", "' + '", "\u{200b}"] {
        let text = format!("TOKEN='{}{broken}{}'", &token[..20], &token[20..]);
        let out = secrets(&text).into_owned();
        assert!(!out.contains(&token[24..40]), "{text} -> {out}");
    }
    let wide: String = token.chars().flat_map(|c| [c, '\0']).collect();
    assert!(secrets(&wide).starts_with("[redacted:"), "{}", secrets(&wide));
}

#[test]
fn numbers_are_checked_by_their_check_digits() {
    untouched(&["card 4242 4242 4242 4243", "IBAN DE00370400440532013000", "card 0000 0000 0000 0000"]);
    assert_eq!(
        secrets("card 4242424242424242, cvc 123"),
        "card [redacted:payment-number], cvc [redacted:access-code]"
    );
}

#[test]
fn masks_of_long_texts_stay_linear() {
    // Each of these made some scanner look far ahead at every anchor.
    for piece in [
        "password=\"a b ",
        "curl -u ",
        "a://",
        "kind: Secret\n",
        "\"kind\":\"Secret\",",
        "password | ",
        "\u{1b}[1mx",
    ] {
        let input = piece.repeat(200_000 / piece.len());
        let out = text(&input, HeadTailLimit::from_total(8 << 10));
        assert!(out.text.len() <= HeadTailLimit::from_total(8 << 10).bytes_max());
    }
}

#[test]
fn values_far_from_their_names_are_masked() {
    let secret = "kx7mq2pz9wl";
    let far = "word ".repeat(700);
    for text in [
        format!("{{\"name\": \"DB_PASSWORD\", \"about\": \"{far}\", \"value\": \"{secret}\"}}"),
        format!("{{\"value\": \"{secret}\", \"about\": \"{far}\", \"name\": \"DB_PASSWORD\"}}"),
        format!("mysql {} -p{secret} shop", "--opt=value ".repeat(600)),
        format!("echo {far} {secret} | sudo -S ls"),
        format!("INSERT INTO users (about, password) VALUES ('{far}', '{secret}');"),
        format!("client.login('{}', '{secret}')", "x".repeat(2000)),
    ] {
        let out = secrets(&text);
        assert!(!out.contains(secret), "{} … {}", &text[..60], &out[out.len() - 80..]);
    }
}

#[test]
fn wrapped_secrets_and_key_lines_with_marks_are_masked() {
    let (key, _) = fill(&["{b64:64}"; 8].join("\n"));
    let marked = |mark: fn(usize) -> String| {
        key.lines().enumerate().map(|(i, line)| mark(i) + line).collect::<Vec<_>>().join("\n")
    };
    let third = key.lines().nth(2).map_or("", |line| &line[8..40]);
    for text in [
        marked(|i| format!("{:6}\t", i + 1)),
        marked(|_| "+".to_owned()),
        marked(|_| "> ".to_owned()),
        marked(|_| "    ".to_owned()),
        format!("token={key}"),
    ] {
        assert!(!secrets(&text).contains(third), "{text}");
    }
    let numbered_certificate = format!(
        "  1\t-----BEGIN CERTIFICATE-----\n{}\n 10\t-----END CERTIFICATE-----",
        marked(|i| format!("{:3}\t", i + 2))
    );
    assert_eq!(secrets(&numbered_certificate), numbered_certificate);
}

#[test]
fn private_parts_of_a_json_web_key_are_masked() {
    hidden(&[
        r#"{"kty":"oct","k":"{url:43}","alg":"HS256"}"#,
        r#"{"keys": [{"kty": "EC", "crv": "P-256", "x": "a", "y": "b", "d": "{url:43}"}]}"#,
    ]);
    let (key, _) = fill(r#"{"kty":"RSA","n":"{url:60}","e":"AQAB"}"#);
    untouched(&[&key]);
}

#[test]
fn cookies_in_json_are_masked_by_their_attributes() {
    hidden(&[r#"[{"name":"sid","value":"{alnum:40}","domain":"host.example","httpOnly":true}]"#]);
    untouched(&[r#"[{"name":"theme","value":"dark","sameSite":"Lax"}]"#]);
}

#[test]
fn codes_and_tokens_in_other_languages_are_masked() {
    hidden(&[
        "暗証番号は{digit:6}です",
        "unlock code for the phone is {digit:6}",
        "令牌为 {alnum:30}7aB",
        "вот токен: {alnum:30}7aB",
        "APIキーは {alnum:30}7aB です",
        "Unseal Key 1: {b64:40}7aB=",
        "the TOTP setup key is {upper:12}2G5K",
        "A temporary password is generated for root@localhost: {lower:5}K7;{upper:4}",
        "openvpn --config a.ovpn --auth-user-pass <(printf \"ina\\n{lower:5}K7{upper:5}\\n\")",
        "GITHUB_TOKEN=ghp_{alnum:20}\r\n{alnum:14}7a",
    ]);
    untouched(&[
        "令牌已过期，请修改登录页面",
        "токен обновляется каждый час",
        "the setup key is stored in the vault",
    ]);
}
