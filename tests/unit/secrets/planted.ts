import { makeRandom } from "../../support/random.ts";

const random = makeRandom(20);
const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const lower = upper.toLowerCase();
const digits = "0123456789";

const of = (letters: string, length: number) =>
  Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join("");
const alnum = (length: number) => of(upper + lower + digits, length);
const hex = (length: number) => of(`${digits}abcdef`, length);
const base64 = (text: string) => Buffer.from(text).toString("base64");
const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
/** A password as people make them: words, a digit, a sign. */
const password = () => `${of(lower, 5)}${of(upper, 2)}${of(digits, 2)}!${of(lower, 3)}`;
const pem = (name: string, before = "") =>
  [`-----BEGIN ${name}-----`, ...Array.from({ length: 4 }, () => alnum(64)), `-----END ${name}-----`]
    .map((line) => before + line)
    .join("\n");

/** As OpenSSH writes a key without a passphrase: names and lengths, between which there are many zeros, and what is random. */
const openSsh = () => {
  const length = (bytes: number) => [0, 0, 0, bytes];
  const text = (value: string) => [...length(value.length), ...Buffer.from(value)];
  const randoms = Array.from({ length: 160 }, () => Math.floor(random() * 256));
  const bytes = [...Buffer.from("openssh-key-v1\0"), ...text("none"), ...text("none"), ...length(0), ...length(1)];
  const body = Buffer.from([...bytes, ...length(51), ...text("ssh-ed25519"), ...randoms]).toString("base64");
  const lines = body.match(/.{1,70}/g) ?? [];
  return {
    lines,
    text: ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----"].join("\n"),
  };
};

/** How secrets stand in sessions, by kind: what is planted, and the part of it that must not be stored. */
const plants: Record<string, () => { text: string; secret: string }> = {
  ...Object.fromEntries(
    Object.entries({
      github: () => `ghp_${alnum(36)}`,
      githubFine: () => `github_pat_${alnum(22)}_${alnum(59)}`,
      gitlab: () => `glpat-${alnum(20)}`,
      anthropic: () => `sk-ant-api03-${alnum(93)}AA`,
      openai: () => `sk-proj-${alnum(48)}`,
      huggingface: () => `hf_${alnum(34)}`,
      google: () => `AIzaSy${alnum(33)}`,
      awsId: () => `AKIA${of(upper, 16)}`,
      stripe: () => `sk_live_${alnum(24)}`,
      slack: () => `xoxb-${of(digits, 12)}-${of(digits, 12)}-${alnum(24)}`,
      npm: () => `npm_${alnum(36)}`,
      pypi: () => `pypi-AgEIcHlwaS5vcmc${alnum(90)}`,
      sendgrid: () => `SG.${alnum(22)}.${alnum(43)}`,
      telegram: () => `${of(digits, 10)}:AA${alnum(33)}`,
      digitalocean: () => `dop_v1_${hex(64)}`,
      shopify: () => `shpat_${hex(32)}`,
      twilio: () => `SK${hex(32)}`,
      doppler: () => `dp.pt.${alnum(43)}`,
      vault: () => `hvs.${alnum(90)}`,
      jwt: () => `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(`{"sub":"${alnum(12)}"}`).toString("base64url")}.${alnum(43)}`,
      slackHook: () => `hooks.slack.com/services/T${of(upper, 8)}/B${of(upper, 8)}/${alnum(24)}`,
      spoor: () => `spoor_${alnum(36)}`,
      terraform: () => `${alnum(14)}.atlasv1.${alnum(67)}`,
      sonar: () => `squ_${hex(40)}`,
      elevenlabs: () => `sk_${hex(48)}`,
      easypost: () => `EZAK${alnum(54)}`,
      artifactory: () => `AKCp${alnum(69)}`,
      facebook: () => `EAAG${alnum(160)}`,
      plaid: () => `access-production-${uuid()}`,
      typeform: () => `tfp_${alnum(59)}`,
      yandex: () => `AQVN${alnum(35)}`,
      yandexOauth: () => `y0_AgAAAA${alnum(50)}`,
      sentry: () => `sntrys_eyJpYXQiOjE3${alnum(150)}=_${alnum(43)}`,
      voyage: () => `pa-${alnum(43)}`,
      awsSession: () => `IQoJb3JpZ2luX2VjE${alnum(900)}==`,
      nvidia: () => `nvapi-${alnum(64)}`,
      datadogApp: () => `ddapp_${alnum(34)}`,
      tencent: () => `AKID${alnum(32)}`,
      newrelic: () => `${hex(36)}NRAL`,
      firebase: () => `AAAA${alnum(7)}:APA91b${alnum(134)}`,
      rapidapi: () => `${hex(10)}msh${hex(15)}p1${hex(5)}jsn${hex(12)}`,
      xBearer: () => `AAAAAAAAAAAAAAAAAAAAA${alnum(24)}%2B${alnum(50)}`,
      pemInBase64: () => base64(`-----BEGIN PRIVATE KEY-----\n${alnum(64)}\n${alnum(64)}\n-----END PRIVATE KEY-----`),
    }).map(([kind, make]) => [
      kind,
      () => {
        const secret = make();
        return { text: secret, secret };
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries<[string, () => string, string]>({
      bearer: ["curl -H 'Authorization: Bearer ", () => alnum(40), "' https://api.internal/v1"],
      basic: ["Authorization: Basic ", () => base64(`ada:${password()}`), ""],
      curlUser: ["curl -u ada:", password, " https://api.internal/v1"],
      postgres: ["postgresql://svc:", () => alnum(18), "@db.internal:5432/app"],
      mongo: ["mongodb+srv://svc:", () => alnum(18), "@c0.abcde.mongodb.net/x"],
      mssql: ["Server=tcp:db.internal,1433;User ID=svc;Password=", password, ";Encrypt=true"],
      jdbc: ["jdbc:mysql://db.internal/app?user=svc&password=", () => alnum(20), ""],
      dotenv: ["DB_HOST=db.internal\nSESSION_SECRET=", () => alnum(40), "\nPORT=3000"],
      exported: ['export SMTP_PASSWORD="', password, '"'],
      yaml: ["database:\n  user: svc\n  password: ", password, "\n"],
      json: ['{"client_id": "abc", "client_secret": "', () => alnum(40), '"}'],
      escapedJson: ['"{\\"apiKey\\":\\"', () => alnum(32), '\\"}"'],
      toml: ['api_key = "', () => alnum(32), '"'],
      option: ["deploy --api-token ", () => alnum(32), " --region eu"],
      awsSecret: ["AWS_SECRET_ACCESS_KEY=", () => of(`${upper}${lower}${digits}+/`, 40), "\n"],
      azure: ["AccountName=acct;AccountKey=", () => `${of(`${upper}${lower}${digits}`, 86)}==`, ";EndpointSuffix=x"],
      query: ["GET https://api.internal/v1?access_token=", () => alnum(40), "&x=1"],
      dockerAuth: ['{"auths":{"ghcr.io":{"auth":"', () => base64(`ada:${alnum(24)}`), '"}}}'],
      sentryDsn: ["https://", () => hex(32), `@o${of(digits, 6)}.ingest.sentry.io/${of(digits, 7)}`],
      gitToken: ["git clone https://", () => hex(40), "@git.internal/ada/api"],
      awsSessionToken: ["aws_session_token = ", () => alnum(700), "\n"],
      awsBehind: [`AKIA${of(upper, 16)},`, () => of(`${upper}${lower}${digits}+/`, 40), "\n"],
      xml: ["<password>", password, "</password>"],
      attribute: ['<add key="ApiPassword" value="', password, '" />'],
      sql: ["ALTER USER app WITH PASSWORD '", password, "';"],
      typed: ['API_TOKEN: str = "', () => alnum(32), '"'],
      aligned: ['  admin_password      = "', password, '"'],
      docker: ["ENV API_TOKEN ", () => alnum(32), "\n"],
      sudo: ["echo '", password, "' | sudo -S ls"],
      webKey: ['{"kty":"EC","d":"', () => alnum(43), '"}'],
      hash: ["ada:$2b$12$", () => alnum(53), "\n"],
      inQuery: ["https://api.internal/v1?key=", () => alnum(32), " "],
      netrc: ["machine git.internal login ada password ", () => `${alnum(18)}7aB`, ""],
      pairOfYaml: ["env:\n  - name: STRIPE_SECRET\n    value: ", () => alnum(32), "\n"],
      pairOfJson: ['{"Name":"/app/password","Type":"SecureString","Value":"', () => alnum(22), '"}'],
      plist: ["<key>ClientSecret</key>\n<string>", () => alnum(32), "</string>"],
      resource: ['<string name="api_secret">', () => alnum(32), "</string>"],
      row: ["Key         Value\n---         -----\npassword    ", () => alnum(20), "\n"],
      orElse: ['const secret = process.env.SECRET || "', () => alnum(32), '";'],
      called: ['builder.setPassword("', () => alnum(24), '")'],
      subscript: ['os.environ["API_TOKEN"] = "', () => alnum(32), '"'],
      reference: ['let token: &str = "', () => alnum(32), '";'],
      ofApp: ['EMAIL_PASSWORD="', () => `${of(lower, 4)} ${of("bcdfgz", 4)} ${of(lower, 4)} ${of(lower, 4)}`, '"'],
      withAmpersand: ["DB_PASSWORD=", () => `${password()}&${of(lower, 5)}`, "\n"],
      wireguard: ["PresharedKey = ", () => `${alnum(43)}=`, "\n"],
      encodedUrl: ["  DB_URL: ", () => base64(`postgres://app:${alnum(16)}@db.internal/app`), "\n"],
      encodedAccount: ["GCP_KEY=", () => base64(`{\n  "type": "service_account",\n  "key": "${alnum(200)}"}`), "\n"],
      encodedLogin: [".dockerconfigjson: ", () => base64(`{"auths":{"ghcr.io":{"auth":"${alnum(60)}"}}}`), "\n"],
      signedUrl: ["https://b.internal/k?X-Amz-Signature=", () => hex(64), " "],
      wallet: ['new ethers.Wallet("', () => hex(64), '", provider)'],
      salt: ["define('AUTH_KEY',  '", () => of(`${upper}${lower}${digits}!#$%&()*+,-./:;<=>?@[]^_{|}~`, 64), "');"],
      jsonKey: ['{"username":"ada","key":"', () => hex(32), '"}'],
      signed: ['jwt.sign(payload, "', () => alnum(64), '", { expiresIn: "1h" })'],
      requirepass: ["requirepass ", () => alnum(20), "\n"],
      terraformState: ['"type": "random_password", "attributes": {"length": 24, "result": "', () => alnum(24), '"}'],
      mysql: ["mysql -u root -p", password, " app"],
    }).map(([kind, [before, make, after]]) => [
      kind,
      () => {
        const secret = make();
        return { text: before + secret + after, secret };
      },
    ]),
  ),
  pem: () => {
    const secret = pem("RSA PRIVATE KEY");
    return { text: `cat id_rsa\n${secret}\n`, secret };
  },
  openSsh: () => {
    const { lines, text } = openSsh();
    return { text: `cat ~/.ssh/id_ed25519\n${text}\n`, secret: lines[2] ?? "" };
  },
  pemQuoted: () => {
    const secret = pem("PRIVATE KEY", "> ");
    return { text: secret, secret: secret.split("\n")[2] ?? "" };
  },
  pemEchoed: () => {
    const secret = pem("PRIVATE KEY");
    const text = secret.split("\n").map((line) => `echo "${line}" >> key.pem`);
    return { text: text.join("\n"), secret: secret.split("\n")[2] ?? "" };
  },
  pemInDiff: () => {
    const secret = pem("EC PRIVATE KEY", "+");
    return { text: `@@ -0,0 +1,6 @@\n${secret}\n`, secret: secret.split("\n")[2] ?? "" };
  },
  pemNumbered: () => {
    const secret = pem("PRIVATE KEY");
    const text = secret.split("\n").map((line, index) => `${String(index + 1).padStart(6)}→${line}`);
    return { text: text.join("\n"), secret: secret.split("\n")[2] ?? "" };
  },
  pemInJson: () => {
    const secret = pem("PRIVATE KEY").replaceAll("\n", "\\n");
    return { text: `{"type":"service_account","private_key":"${secret}\\n"}`, secret };
  },
};

/** Where in a session something is planted. */
const surroundings: ((text: string) => string)[] = [
  (text) => `I ran it and got this:\n\n\`\`\`\n${text}\n\`\`\`\nThe retry timer is in src/lib/x.ts.`,
  (text) => `$ printenv\nHOME=/home/ada\n${text}\nSHELL=/bin/bash`,
  (text) => `Here you go: ${text} and please do not commit it`,
  (text) => `diff --git a/.env b/.env\n@@ -1 +1 @@\n-X=1\n+${text}\n`,
  (text) => `     1\timport x from "x";\n     2\t// ${text}\n     3\texport {};`,
];

/** 200 and more secrets, each in a text as sessions have it: some of each kind. */
export const planted = Object.entries(plants).flatMap(([kind, make], index) =>
  Array.from({ length: 4 }, (_, n) => {
    const { text, secret } = make();
    return { kind, secret, text: (surroundings[(index + n) % surroundings.length] as (text: string) => string)(text) };
  }),
);
