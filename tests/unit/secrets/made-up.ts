import { kinds } from "#lib/secrets/kinds";
import { fillForm, parseTemplate } from "#lib/secrets/template";

/** A generator of numbers from 0 to below 1, the same ones for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomOf(7);

/** Characters of a form's class, as lib/secrets/template.ts names them. */
export const run = (shape: string): string => fillForm(parseTemplate(`head{${shape}}`), random).slice("head".length);

/** A made-up secret for each form of each kind. */
export const formed = kinds.flatMap(({ id, forms }) =>
  forms.map((form): [kind: string, secret: string] => [id, fillForm(parseTemplate(form), random)]),
);

const pem = (name: string) =>
  `-----BEGIN ${name}-----\n${Array.from({ length: 6 }, () => run("base64:64")).join("\n")}\n-----END ${name}-----`;
const basic = (text: string) => Buffer.from(text).toString("base64");

/** Secrets that are known by what stands beside them: the text before, the secret, the text after. */
export const surrounded: [kind: string, before: string, secret: string, after: string][] = [
  ["private-key", "cat key.pem\n", pem("PRIVATE KEY"), "\n"],
  ["private-key", "", pem("RSA PRIVATE KEY"), ""],
  ["private-key", "key: |\n", pem("OPENSSH PRIVATE KEY"), "\ndone"],
  ["private-key", '{"private_key": "', pem("PRIVATE KEY").replaceAll("\n", "\\n"), '\\n"}'],
  ["url-password", "DATABASE_URL=postgres://ada:", run("alnum:14"), "@db.internal:5432/app"],
  ["url-password", "git clone https://ada:", run("alnum:20"), "@git.internal/ada/api.git"],
  ["url-password", "redis://:", run("alnum:16"), "@cache.internal"],
  ["authorization", 'curl -H "Authorization: Bearer ', run("url:40"), '" https://api.internal'],
  ["authorization", "authorization: Basic ", basic(`ada:${run("alnum:12")}`), "\n"],
  ["authorization", '"Authorization": "token ', run("hex:40"), '"'],
  ["aws-secret", "aws_secret_access_key = ", run("base64:40"), "\n"],
  ["aws-secret", 'AWS_SECRET_ACCESS_KEY="', run("base64:40"), '"'],
  ["environment", "SESSION_SECRET=", run("alnum:32"), "\n"],
  ["environment", "export DB_PASSWORD='", run("alnum:24"), "'\n"],
  ["telegram", "BOT=", `${run("digit:10")}:AA${run("alnum:33")}`, "\n"],
  ["discord", 'client.login("', `M${run("alnum:25")}.G${run("alnum:5")}.${run("alnum:38")}`, '")'],
  ["azure", "client secret ", `${run("alnum:3")}8Q~${run("alnum:34")}`, " made"],
  ["mailchimp", "mc ", `${run("digit:8")}${run("hex:24").toLowerCase()}-us12`, " ok"],
  ["sentry", "dsn: https://", run("hex:32").toLowerCase(), "@o42.ingest.sentry.io/4501"],
  ["url-password", "git clone https://", run("hex:40").toLowerCase(), "@git.internal/ada/api"],
  ["aws-session", 'AWS_SESSION_TOKEN="', `${run("base64:600")}==`, '"'],
  ["aws-secret", "AKIAIOSFODNN7EXAMPLE,", run("base64:40"), "\n"],
  ["environment", "HEROKU_API_KEY=", run("uuid:36").replace(/^(.{8}).(.{4}).(.{4}).(.{4})./, "$1-$2-$3-$4-"), "\n"],
  ["azure", "key ", `${run("alnum:52")}JQQJ99${run("alnum:20")}`, " made"],
  ["google", "to ", `${run("alnum:11")}:APA91b${run("url:134")}`, " sent"],
  ["newrelic", "license ", `${run("hex:36").toLowerCase()}NRAL`, "\n"],
  ["rapidapi", "-H 'X: ", "7cb6eace52msh5a8fefc65afacf3p10f09ejsn29e5b51ffe4a", "'"],
  ["twitter", "as ", `${"A".repeat(22)}${run("alnum:30")}%2B${run("alnum:40")}`, "\n"],
  ["discord", "client.login('", `MTA4${run("alnum:22")}.x${run("alnum:5")}.${run("alnum:38")}`, "')"],
  ["private-key", '{"kty":"OKP","d":"', run("url:43"), '","x":"a"}'],
  ["authorization", "wandb login ", run("hex:40").toLowerCase(), "\n"],
  ["authorization", "Authorization: SSWS ", run("url:42"), "\n"],
  ["password-hash", "root:$6$", `${run("alnum:16")}$${run("alnum:86")}`, ":19000"],
  ["assignment", "algoliasearch('AB12CD34EF', '", run("hex:32").toLowerCase(), "')"],
  ["assignment", "<password>", "kx9vQ2mZ7pLd", "</password>"],
  ["assignment", 'key="ApiPassword" value="', `7${run("alnum:13")}a`, '"'],
  ["assignment", "IDENTIFIED BY '", `7${run("alnum:13")}a`, "';"],
  ["assignment", "kubeadm join --token ", "x1f0rd.mj8qlpnlbmo7tydo", "\n"],
  ["assignment", "SECRET_KEY = '", "k3#s9v!p2@x7&m1^q8*w5(r4)t6_y0-u+k3#s9v!p2@x7&m1^q", "'"],
  ["assignment", "db.internal:5432:app:ada:", `7${run("alnum:13")}a`, "\n"],
  ["assignment", "echo ", `7${run("alnum:13")}a`, " | docker login -u ada --password-stdin"],
  ["assignment", "openssl enc -pass pass:", `7${run("alnum:13")}a`, "\n"],
  ["assignment", 'const config = { password: "', "Tr0ub4dor&3x", '" }'],
  ["assignment", '"apiKey": "', run("alnum:28"), '",'],
  ["assignment", "deploy --api-token ", run("alnum:24"), " now"],
  ["assignment", "machine git.internal login ada password ", run("alnum:16"), "\n"],
  // Passwords that people choose: words with numbers, and signs, where a name says what they are.
  ["environment", "DB_PASSWORD=", "k7(Q,x;zR2v#N8mB4wYt", "\n"],
  ["assignment", "PGPASSWORD=", "granite3171", " psql"],
  ["assignment", "POSTGRES_PASSWORD: ", "saffron7453", "\n"],
  ["assignment", 'password="', "harbor5047", '"'],
  ["assignment", '{"password": "', "aB3.x9(zQ]4", '"}'],
  ["assignment", "sshpass -p ", "granite8711", " ssh"],
  ["assignment", "mysql -u root -p", "ember1851", " shop"],
  ["assignment", "keytool -storepass ", "orchid8138", "\n"],
  ["assignment", "echo ", "ember2672", " | sudo -S ls"],
  ["assignment", "pass = ", "HC_8W-LJO3vMAhhF", "\n"],
  ["assignment", "staging db pw: ", "falcon2841", " (new)"],
  ["assignment", "admin / ", "ThistleEmber21!", " on staging"],
  ["assignment", "INSERT INTO t (email, password) VALUES ('a@b.c', '", "EmberMaple49$", "');"],
  // In prose and Markdown, in colours, in escapes of URLs, HTML and JSON, and in longer labels.
  ["assignment", "**Password:** ", "violet-copper-59", "\n"],
  ["assignment", "| API key | ", run("alnum:32"), " |"],
  ["assignment", "the admin password to `", "OoNRJNFeU8Bxn1PZ", "`"],
  ["assignment", "password for prod is ", "Maple-1437-tundra", "\n"],
  ["assignment", "AWS Secret Access Key [None]: ", `7${run("alnum:30")}a`, "\n"],
  ["environment", "\u001b[32mDB_PASSWORD\u001b[0m=\u001b[33m", `7${run("alnum:24")}aB`, "\u001b[0m"],
  ["assignment", "&quot;password&quot;: &quot;", `7${run("alnum:14")}a`, "&quot;"],
  ["assignment", "client_secret=", `7${run("alnum:30")}a`, "\\u0026a=b"],
  ["assignment", '"db_password":{"sensitive":true,"value":"', `7${run("alnum:14")}a`, '"}'],
  ["assignment", '"refresh_token":"', `${run("url:300")}x`, '"'],
  ["assignment", 'string ApiKey { get; set; } = "', run("alnum:32"), '"'],
  ["github", "token%3D", `ghp_${run("alnum:36")}`, "%26x"],
  ["github", "\u001b[33m", `ghp_${run("alnum:36")}`, "\u001b[0m"],
  ["assignment", "| `ALGOLIA_ADMIN_KEY` | `", run("hex:32").toLowerCase(), "` |"],
  ["assignment", 'variable "okta_api_token" {\n  type = string\n  default = "', run("url:42"), '"'],
  ["assignment", "MYSQL_ROOT_PASSWORD: ", "violet-falcon-meadow-copper", "\n"],
  ["assignment", "  password: ", "ZUZlbENHWnRwMGFTZXZJ", "\n"],
  ["assignment", "keyPassword=", "vp3xgurfky", "\n"],
  ["assignment", "pass: '", "kpxb rbrd wgdu zdoz", "'"],
  ["assignment", '"masterKey": "', run("hex:32").toLowerCase(), '"'],
  ["assignment", "new mysqli('localhost', 'root', '", "Falcon#77x", "', 'shop')"],
  ["assignment", "az login --service-principal -u ada -p ", `7${run("alnum:20")}aB`, "\n"],
  ["assignment", "echo '", "Harbor1987$", "' | sudo -S ls"],
  ["assignment", "     2→DB_PASSWORD=", "lantern7Walnut96", "\n     3→DB_HOST=db"],
  ["assignment", "the password is ", "lanternWalnut96", "\n"],
  ["assignment", "PGPASSWORD=", "X3o9o5b.2amOXi5Vc2I", " pg_dump"],
  ["assignment", '"Password": "', "RtTYXDaSnCrG9", '"'],
  ["assignment", "mailgun key: ", "ea60b1c2d3f4a5968778695a4b3c2d1e-53a17aa6-a5a069ee", "\n"],
  [
    "slack-webhook",
    "alerts to ",
    `https://hooks.slack.com/services/T${run("upper:9")}/B${run("upper:9")}/${run("alnum:24")}`,
    " please",
  ],
  // Addresses, headers, cookies, and what a command prints.
  ["url-password", 'DATABASE_URL="postgresql://app:', "VioletKestrel75$", '@10.0.3.4:5432/a"'],
  ["url-password", "postgres://app:", "falcon8576@985", "@db.internal/app"],
  ["url-password", 'sql.Open("mysql", "svc:', run("alnum:14"), '@tcp(db:3306)/a")'],
  ["authorization", 'auth=("admin", "', "TundraFalcon24%", '")'],
  ["authorization", "curl --proxy-user dev:", "falcon9925", " https://a.internal"],
  ["authorization", "Authorization: Splunk ", "966923e1-dffe-4306-84eb-db8a61b0bb19", '"'],
  ["cookie", "Set-Cookie: PHPSESSID=", "gtvss6il2dm30cehzktbfoxoh1", "; path=/"],
  ["cookie", ".a.internal\tTRUE\t/\tTRUE\t1790000000\tsession_token\t", run("url:43"), "\n"],
  ["private-key", "$ wg genkey\n", `${run("base64:43")}=`, "\n"],
  ["assignment", "$ cat config/master.key\n", run("hex:32").toLowerCase(), "\n"],
  ...webKeys(),
  ...ofAzure(),
  // Keys of single programs.
  ["private-key", "PrivateKey = ", `${run("base64:43")}=`, "\n"],
  ["vault", "vault login ", `s.${run("alnum:24")}`, "\n"],
  ["newrelic", "license ", `eu01xx${run("hex:30").toLowerCase()}NRAL`, "\n"],
  ["aws-secret", "ASIAIOSFODNN7EXAMPLE\t2026-11-25T11:00:00Z\t", run("base64:40"), "\n"],
  ["azure", "https://a.internal/invoke?sp=run&sv=1.0&sig=", `a7B${run("url:40")}`, "\n"],
  ["authorization", '"encoded":"', basic(`${run("alnum:20")}:${run("alnum:22")}`), '"'],
  ["environment", "RAZORPAY_KEY_SECRET=", "ccmlKMCfXPJUFrObVSDMgX09", "\n"],
  ["assignment", "openweather:\n  key: ", `a7B${run("alnum:33")}`, "\n"],
  // Passwords of programs, as arguments and as they are typed.
  ["url-password", "jdbc:oracle:thin:system/", "Cosek@2023", "@//db.internal:1521/XE"],
  ["assignment", "sqlplus app/", "harbor5047", "@db.internal/XE"],
  ["assignment", "openssl enc -aes-256-cbc -k ", "ember_majet36!", " -in a"],
  ["assignment", "smbclient //nas/share -U ada%", "harbor5047", "\n"],
  ["assignment", "net use Z: \\\\nas\\share /user:ada ", "EmberNolu863", "\n"],
  ["assignment", "rabbitmqctl add_user ada ", "EmberWulo005", "\n"],
  ["assignment", "ssm put-parameter --name /db --type SecureString --value '", "FXm4Z0PIHfH5O#0J", "'"],
  ["assignment", 'expect "password:"\nsend "', "litil-roledi-31", '\\r"'],
  ["assignment", "USER ada\n331 Please specify the password.\nPASS ", "Nuljosja060", "\n"],
  ["assignment", "127.0.0.1:6379> AUTH ", "YaAcvHk2nldNX%0C", "\nOK"],
  ["assignment", "IDENTIFIED WITH caching_sha2_password BY '", "ABasADHnb%6C", "'"],
  ["assignment", "CREATE LOGIN ada WITH PASSWORD = N'", "ErUJFZ9CDDi!7V", "'"],
  ["assignment", "Secret ID    = ", "e141bdf8-5b42-47de-a8b5-e12f5cec0edc", "\n"],
  // In other languages, and with a name beside them.
  ["assignment", "Das Passwort für den Testserver lautet: ", "harbor-ember76!", "\n"],
  ["assignment", "Benutzer: ada, Kennwort: ", "lakut3926", "\n"],
  ["assignment", "La contraseña del servidor es ", "giqa5333", " por ahora"],
  ["assignment", "Voici la clé API : ", `a7B${run("alnum:29")}`, "\n"],
  ["assignment", "sign in as ada with the password `", "cYQPLe4mw_8N", "`"],
  ["assignment", "credentials for staging: ada / ", "ember-kolvor-66", "\n"],
  ["assignment", "login with admin:", "eWT2xYMN6?4X", " on the NAS"],
  // In tables.
  ["assignment", "| user | password |\n|---|---|\n| ada | `", "harbor5047", "` |"],
  ["assignment", " id | api_token\n----+-----------\n  1 | ", `a7B${run("alnum:25")}`, "\n(1 row)"],
];

/** The private parts of keys as JSON (RFC 7518), which have more than `d`. */
function webKeys(): [string, string, string, string][] {
  const of = (type: string, name: string, chars: number): [string, string, string, string] => [
    "private-key",
    `{"${name}":"`,
    `a7B${run(`url:${chars}`)}`,
    `","kty":"${type}"}`,
  ];
  return [of("oct", "k", 40), of("oct", "k", 83), ...["p", "q", "dp", "dq", "qi"].map((name) => of("RSA", name, 168))];
}

/** Keys that have what Microsoft writes into them before their last six characters. */
function ofAzure(): [string, string, string, string][] {
  const of = (before: string, mark: string, end: string): [string, string, string, string] => [
    "azure",
    "key: ",
    `${run(before)}${mark}${run("alnum:6")}${end}`,
    "\n",
  ];
  return [
    ...["+ASt", "+ABa", "+AMC", "ACDb", "APIM"].map((mark) => of("alnum:76", mark, "==")),
    ...["+ARm", "+AEh", "+ASb", "AIoT", "AzCa"].map((mark) => of("alnum:33", mark, "=")),
    of("url:44", "AzFu", "=="),
    of("alnum:42", "AzSe", ""),
    of("alnum:42", "+ACR", ""),
  ];
}

/** What stands in code, logs and examples where a secret would be. */
export const harmless = [
  'password: "changeme"',
  "PASSWORD=your-password-here",
  'apiKey: process.env.API_KEY ?? ""',
  'const token = await getAccessToken(user, "default");',
  "input_tokens: 1200, output_tokens: 45, cache_read_input_tokens: 1200345",
  "postgres://postgres:postgres@localhost:5432/app",
  "https://user:password@example.com/path",
  "https://$USER:$TOKEN@github.com/ada/api",
  "redis://localhost:6379/0",
  "Authorization: Bearer <your-token>",
  'headers["Authorization"] = `Bearer ${token}`',
  "AKIAIOSFODNN7EXAMPLE",
  "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "sk-ant-api03-...",
  `ghp_${"a".repeat(36)}`,
  "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
  "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
  "secret_key_base is read from credentials.yml.enc",
  "the token is stored in your settings file, which only you can read",
  '"integrity": "sha512-mD9uPOCJ2sOLoaTGCAA95R4Oiv6GE0GbPLOBTmPp8Xo3N7AnmMEhkHrZ6ogZ2hPq1ZGrGM4Hh8mQdIY5E8Yb0A=="',
  "commit 7f3c9a1e5b2d8c4f6a0e1b3d5c7f9a2e4b6d8c0f",
  "lib/auth/tokens.ts:42:export const tokenBytes = 32;",
  "passwordHash varchar(255) not null",
  "eyJhbGciOiJIUzI1NiJ9",
  "task sk-list-item-with-a-long-name-for-a-css-class-selector",
  "the path /path/pat12345678901234.txt",
  "npm_config_registry=https://registry.npmjs.org",
  "TOKEN_LIMIT=200000000000",
  "password_reset_token_expires_at",
  "password: string = await read();",
  "const token: Token | undefined = next(tokens);",
  "the password 'of the user' is asked for",
  "<token>value</token>",
  "https://cdn.internal/lib/jquery-3.7.1.min.js?key=list",
  "general funeral msh",
  "idempotency_key: 019a9c3e-5b8f-7a10-8c44-92d5e1f06a3b",
  'password: "this must have been" is what it says',
  '{"key":"workspace-settings-of-the-editor"}',
  "password    string    the password of the user",
  '{"name":"PASSWORD_RULES","value":"at-least-twelve-letters"}',
  "random_password: a resource that makes one",
  "new Wallet(config, provider)",
  "git@github.com:ada/api.git and https://github.com/ada/api@main",
  "CACHE_KEY=191ebbc7d08be0633deed4d39428c7107c09d21b",
  "mongodb+srv://<user>:<password>@cluster0.mongodb.net",
  "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3",
  "secretName: postgres-credentials-7f9c6d5b4",
  "--password-policy strong-v2-2025",
  'token: "Authorization:"',
  '"private_key_id": "191ebbc7d08be0633deed4d39428c7107c09d21b"',
  "const password = user1.password;",
  "password: hashPassword256(input)",
  'password: "password123"',
  'password = "Test1234!"',
  "the password for the account is stored hashed",
  "password=$DB_PASSWORD1",
  'keywords = ["password", "passphrase", "credential", "apikey"]',
  '{"passwordChangedAt":"2026-03-12T10:22:31.123Z"}',
  "ghcr.io/acme/token-service:ad8e75929950fa1e6f0ef5a3f8bad5d505a34f25",
  "[sudo] password for ada: \n-Reading",
  'X_AWS_EC2_METADATA_TOKEN = "x-aws-ec2-metadata-token"',
  "password: required|min:8|confirmed",
  "password: z.string().min(8).max(128),",
  "accessTokenExpiresAt DateTime?",
  "1 test did not pass: src/lib/a1b2.test.ts",
  "OLDPWD=/home/ada/Dev2026/a-b-c",
  "SSH_AUTH_SOCK=/private/tmp/com.launchd.Xa81kQz92P/Listeners",
  "--token-bg: #47ef69dd;",
  "API_KEY=sk-ant-api03-...",
  '{"client_secret": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf"}',
  `{"kty":"RSA","n":"a7B${run("url:300")}","e":"AQAB"}`,
  `{"p":"a7B${run("url:80")}"}`,
  "| key | what it does |\n|---|---|\n| `ctrl2` | opens the file |",
  "| key | what it is |\n|---|---|\n| `cacheWrite5m`, `cacheWrite1h` | tokens |",
  "PASS src/lib/a1b2.test.ts",
  "| name | token |\n|---|---|\n| color | `--blue-500` |",
  "credentials: see docs/setup2.md",
];
