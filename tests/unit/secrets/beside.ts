type Run = (shape: string) => string;

/**
 * Secrets where programs, files and people put them, which an attack with the source in hand found open: the text before, the
 * secret, the text after.
 *
 * @param run makes up characters of a form's class
 */
export function beside(run: Run): [kind: string, before: string, secret: string, after: string][] {
  const lines = Array.from({ length: 6 }, () => run("base64:64"));
  const pem = (between: string) =>
    ["-----BEGIN RSA PRIVATE KEY-----", ...lines, "-----END RSA PRIVATE KEY-----"].join(between);
  return [
    // Keys whose lines have something around them,
    ["private-key", 'const char key[] = \\\n  "', pem('\\n" \\\n  "'), '\\n";'],
    ["private-key", "\u001b[32m+", pem("\u001b[m\n\u001b[32m+"), "\u001b[m\n"],
    ["private-key", "<pre>", pem("<br>\n"), "</pre>"],
    ["private-key", "", pem("$\n"), "$"],
    // what stands behind a URL, and names and hosts in it,
    ...[
      ["<", ">"],
      ["\u001b[36m", "\u001b[39m"],
      ["连接", "，然后"],
      ["cannot reach ", ": refused"],
      ["url: {", "}"],
    ].map(([before, after]): [string, string, string, string] => [
      "url-password",
      `${before}redis://:`,
      run("alnum:18"),
      `@cache.internal:6379${after}`,
    ]),
    ["url-password", "amqp://svc:", run("alnum:14"), "@$HOST:5672/"],
    ["url-password", "mysql://admin@shop:", run("alnum:14"), "@shop.internal/app"],
    // tokens of services and applications,
    ["google", "$ gcloud auth print-access-token\n", `ya29.c.${run("url:300")}`, "\n"],
    ["authorization", "Authorization: Bearer ", `12|${run("alnum:40")}`, '"'],
    // and names and values as programs and files have them.
    ["environment", "SESSION_SECRET:              ", `a7B${run("alnum:30")}`, "\nPORT: 1"],
    ["environment", "-SESSION_SECRET=", `a7B${run("alnum:30")}`, "\n"],
    ["environment", 'process.env.SESSION_SECRET = "', `a7B${run("alnum:30")}`, '";'],
    ["environment", "setenv SESSION_SECRET ", `a7B${run("alnum:30")}`, "\n"],
    ["environment", "SESSION_SECRET ?= ", `a7B${run("alnum:30")}`, "\n"],
    ["environment", "│ SESSION_SECRET │ ", `a7B${run("alnum:30")}`, " │"],
    ["environment", "SESSION_SECRET\t", `a7B${run("alnum:30")}`, "\n"],
    ["environment", "gh secret set SESSION_SECRET -b '", `a7B${run("alnum:30")}`, "'"],
    ["environment", "pulumi config set --secret SESSION_SECRET ", `a7B${run("alnum:30")}`, "\n"],
    ["environment", "eas env:create --name SESSION_SECRET --value ", `a7B${run("alnum:30")}`, "\n"],
    ["environment", "ParameterKey=SESSION_SECRET,ParameterValue=", `a7B${run("alnum:30")}`, "\n"],
    ["environment", '{"name":"SESSION_SECRET","slotSetting":false,"value":"', `a7B${run("alnum:30")}`, '"}'],
    ["environment", 'buildConfigField "String", "SESSION_SECRET", "\\"', `a7B${run("alnum:30")}`, '\\""'],
    ["environment", 'SESSION_SECRET = new TextEncoder().encode("', `a7B${run("alnum:30")}`, '")'],
    ["environment", '<property name="SESSION_SECRET">', `a7B${run("alnum:30")}`, "</property>"],
    ["environment", "SESSION_SECRET：", `a7B${run("alnum:30")}`, "\n"],
    // Names in another field than their values, in either order.
    ...nameBesideValue(run),
    ["assignment", '"token": "', `12|${run("alnum:40")}`, '"'],
    ["assignment", "密码是 ", "Nuljosja060!", "\n"],
    ["assignment", "Пароль: ", "Nuljosja060!", "\n"],
  ];
}

type Beside = [kind: string, before: string, secret: string, after: string];

/** Lists of variables as ECS, Kubernetes, Vercel, Parameter Store and code write them: as they are, and as JSON in a text. */
function nameBesideValue(run: Run): Beside[] {
  const token = `a7B${run("alnum:20")}`;
  const indent = " ".repeat(36);
  const plain: [before: string, secret: string, after: string][] = [
    ['{"value":"', "hunter2secret", '","name":"DB_PASSWORD"}'],
    ['{"name":"DB_PASSWORD","value":"', "hunter2secret", '"}'],
    ['{"Value":"', "hunter2secret", '","Name":"DB_PASSWORD"}'],
    ['{"Name": "/prod/db/password", "Type": "SecureString", "Version": 3, "Value": "', "hunter2secret", '"}'],
    ['{"key":"API_TOKEN","value":"', token, '"}'],
    ['{"value":"', token, '","key":"API_TOKEN"}'],
    ['{"type":"encrypted","value":"', token, '","target":["production","preview"],"id":"x1","key":"API_TOKEN"}'],
    ['{"key":"API_TOKEN","target":["production"],"createdAt":1700000000000,"gitBranch":null,"value":"', token, '"}'],
    ['{"name":"DB_PASSWORD","meta":{"a":1},"value":"', "hunter2secret", '"}'],
    [`{\n${indent}"value": "`, "hunter2secret", `",\n${indent}"name": "DB_PASSWORD"\n}`],
    [`{\n${indent}"name": "DB_PASSWORD",\n${indent}"value": "`, "hunter2secret", '"\n}'],
    ["env:\n  - name: DB_PASSWORD\n    value: ", "hunter2secret", "\n"],
    ["env:\n  - value: ", "hunter2secret", "\n    name: DB_PASSWORD\n"],
    ['env:\n  - value: "', "hunter2secret", '"\n    name: DB_PASSWORD\n  - name: X\n    value: y\n'],
    ["{ value: '", "hunter2secret", "', name: 'DB_PASSWORD' }"],
    ['value = "', "hunter2secret", '"\n      name  = "DB_PASSWORD"\n'],
    ['<input value="', "hunter2secret", '" type="password" name="password">'],
    ['{"Env": [\n  "DB_PASSWORD=', "hunter2secret", '",\n  "PATH=/bin"\n]}'],
  ];
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  return plain.flatMap(([before, secret, after]): Beside[] => {
    const kind = secret === token ? "environment" : "assignment";
    return [
      [kind, before, secret, after],
      [kind, inJson(before), secret, inJson(after)],
      [kind, inJson(inJson(before)), secret, inJson(inJson(after))],
    ];
  });
}

/** Fields of other objects, and names and values that are none of secrets. */
export const harmlessFields = [
  '{"name":"DB_PASSWORD","valueFrom":"arn:aws:ssm:eu-west-1:1:parameter/db"},{"name":"X","value":"hunter2secret"}',
  '{"name":"X","value":"hunter2secret"},{"name":"DB_PASSWORD"}',
  "- value: hunter2secret\n- name: DB_PASSWORD\n",
  '{"name":"max_tokens","value":"hunter2secret"}',
  "{ name: 'token', value: state.token, label: 'Token' }",
  '{"value":"Enter your password","name":"password","type":"password"}',
];
