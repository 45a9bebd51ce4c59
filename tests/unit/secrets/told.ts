type Run = (shape: string) => string;

const password = "Zk7mQwe91xQ";

/** Passwords where people type, tell and keep them: the text before, the secret, the text after. */
export function told(run: Run): [kind: string, before: string, secret: string, after: string][] {
  const key = `a7B${run("alnum:24")}`;
  const lines = Array.from({ length: 5 }, () => run("base64:64")).join("\n");
  const passwords: [before: string, after: string][] = [
    // Into fields of pages, by tests and agents,
    ['{"element":"Password textbox","ref":"e12","text":"', '"}'],
    ['{"element":"Password","ref":"e12","slowly":false,"submit":true,"text":"', '"}'],
    ['await page.getByLabel("Password").fill("', '")'],
    ["await page.getByRole('textbox', { name: 'Password' }).fill('", "');"],
    ["await page.locator('input[type=\"password\"]').fill('", "');"],
    ["cy.get('#password').type('", "')"],
    ['driver.find_element(By.NAME, "password").send_keys("', '")'],
    ["await user.type(screen.getByLabelText(/password/i), '", "')"],
    // as arguments in lists, and of more commands,
    ['["mysql","-uroot","-p', '"]'],
    ['["curl","-u","bob:', '","https://x"]'],
    ['["docker","login","-u","bob","-p","', '"]'],
    ['["sshpass", "-p", "', '", "ssh", "pi"]'],
    ["twine upload -u bob -p ", " dist/*"],
    ["mosquitto_pub -u bob -P ", " -t a -m b"],
    ["supabase db push -p ", ""],
    ["htpasswd -bc .htpasswd bob ", ""],
    ["net user bob ", " /add"],
    ['vercel env add DB_PASS production <<< "', '"'],
    ["nmcli dev wifi connect Home password ", "\n"],
    ["$ echo $DB_PASSWORD\n", "\n$ "],
    // in tables,
    ["username,password\nbob,", "\n"],
    ["name,url,username,password,note\nx,https://x.internal,bob,", ",\n"],
    ['"Title","Password","Notes"\n"x","', '","a, b"\n'],
    ["id;login;passwort\n1;bob;", "\n"],
    ["user\tpassword\nbob\t", "\n"],
    ['{"content":"id,email,password\\n1,b@x.internal,', '\\n"}'],
    ["     1→username,password\n     2→bob,", "\n"],
    ["INSERT INTO users (email, password, role) VALUES ('b@x.internal', '", "', 'admin');"],
    ["<tr><td>Password</td><td>", "</td></tr>"],
    ["<dt>Password</dt>\n<dd>", "</dd>"],
    // and in sentences.
    ["log in as bob with password ", ""],
    ["set the admin password to ", " please"],
    ["I changed the password from ", " to something else"],
    ["the wifi password at the office is ", ""],
    ["use ", " as the password"],
    ["it's ", " (root password)"],
    ["“password”: “", "”,"],
    ["mit dem Passwort „", "“ anmelden"],
    ["Grafana (admin/", ")"],
    ...["パスワード：", "パスワードは ", "비밀번호: ", "비밀번호는 ", "口令：", "密碼：", "пароль — ", "şifre: "],
    ...["lösenord: ", "adgangskode: ", "passord: ", "salasana: ", "jelszó: ", "parolă: ", "mật khẩu: ", "kata sandi: "],
    ...[
      "κωδικός: ",
      "סיסמה: ",
      "كلمة المرور: ",
      "पासवर्ड: ",
      "รหัสผ่าน: ",
      "a senha é ",
      "hasło to ",
      "heslo je ",
      "mdp : ",
    ],
  ].map((one) => (typeof one === "string" ? [one, "\n"] : (one as [string, string])));
  return [
    ...passwords.map(([before, after]): [string, string, string, string] => ["assignment", before, password, after]),
    ["assignment", "A temporary password is generated for root@localhost: ", "aBc;12xYz,Q7", "\n"],
    ["assignment", "API key ", key, " should work"],
    ["assignment", "the token I got is ", key, ""],
    ["assignment", "密钥：", key, "\n"],
    ["assignment", "токен: ", key, "\n"],
    ["assignment", 'api_token: Some("', key, '")'],
    ["assignment", '["password"]=>\n  string(11) "', password, '"'],
    // The end of a key whose beginning an output leaves out.
    ["private-key", "[40 lines left out]\n", `${lines}\n`, "-----END RSA PRIVATE KEY-----\n"],
  ];
}

/** Sentences, code and tables about passwords. */
export const harmlessTold = [
  "log in with password authentication over OAuth2Client",
  "hash the password with SHA-256, then Argon2id",
  "changed the password to uppercase4Letters",
  "pass the password to validateV2Input before it is stored",
  "use BCryptPasswordEncoder2 as the password encoder",
  "SELECT id, email, password, role\nFROM users, roles, a, b\n",
  "const { username, password, role } = request.body;\nconst a1B2c3D4 = hash(b, c, d);\n",
  "username,password,role\nstring,string,string\n",
  "INSERT INTO users (email, password) VALUES ($1, $2)",
  "INSERT INTO users (email, password_hash) VALUES ('a@b.internal', crypt(p))",
  "await page.getByLabel('Password').fill('wrong password');",
  'await page.getByLabel("Password").fill(process.env.E2E_PASSWORD)',
  '{"element":"Search field","ref":"e12","text":"Zk7mQwe91xQ"}',
  '["docker","run","-p","127.0.0.1:8080:80","a/login"]',
  "<td>Password</td><td>required</td>",
  "-----END RSA PRIVATE KEY-----",
  "cat <<< $TOKEN",
];
