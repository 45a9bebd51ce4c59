import { describe, expect, test } from "vitest";
import { findSecrets } from "#common/secrets/find-secrets";
import { kinds } from "#common/secrets/kinds";
import { formed } from "../../unit/secrets/made-up.ts";

describe("the time is linear:", () => {
  const heads = kinds.flatMap(({ forms }) => forms.map((form) => form.split("{")[0] ?? ""));
  /** What begins a look at what stands beside it. */
  const words = ["vca_", ":x-oauth-basic@", "_authtoken=", "private_key_id"];
  const beside = words.flatMap((word) => [word, `${word}a-`, `${word}aB3dE5fG.`]);
  const worst = [
    ...new Set([...heads, ...beside]),
    ...'-----BEGIN |-----BEGIN PRIVATE KEY-----A|-----BEGIN PRIVATE KEY-----\nMIIE|http://|http://a:|http://a:b|eyJaaaaaaaaaaaa.|password=|password=a1B2c3D4e5|password = "|login x password |bearer |basic YWJj|authorization: token |--token |:AA|1234567890:AA|abc1Q~|-us|.G|M.G|private-lines: 9 |secret|"d":|{"kty":"d":"a|login(\'|client(|?code=|?key=|$2b$|:5432:|:5432:a:b:c|akia|AKIAIOSFODNN7EXAMPLE,|session_token=a|sudo -s|echo a|sudo -s|A|NRAL|msh|JQQJ99|:APA91b|<password>|ENV API_TOKEN |https://aaaaaaaaaaaaaaaaaaaa@b'.split(
      "|",
    ),
    ...'"password","value":|password    |password\n   |secret","Type":"a","value":"|token</key><string>|name="token">|secret=a&b|password aaaa aaaa aaaa aaaa|"key":"|define(\'AUTH_KEY\', \'aB3$|pass: "|requirepass |storepass a|jwt.sign(a, "aB3d|random_password "result": "aB3dE|mc alias set a b c |password for the a user|unseal key 1: |x-amz-signature=a|wallet("|cG9zdGdyZXM6Ly9hcHA6|echo a \u007c secret put|[redacted:password=a1B2c3D4e5 '.split(
      "|",
    ),
    ...formed.slice(0, 3).map(([, secret]) => secret),
  ];

  /** The slowest texts of many thousands that were put together of beginnings, names, signs and values, and grew where that took longer. */
  const grown = [
    "signing_key1234567890Typea:b@",
    `${"a:b@".repeat(7)}keypassTypea:b@&a:b@signing_keyintegrationkey1234567890Typea:b@`,
    `${"passwort".repeat(4)}sk_org_live_sk_org_live_`,
    `${"sess".repeat(13)}github_pat_|\ngithub_pat_pass0123456789abcdef${"github_pat_".repeat(6)}`,
    `${"eyJhdXRocyI6".repeat(3)}dbpass${"eyJhdXRocyI6".repeat(2)}: ${"eyJhdXRocyI6".repeat(20)}`,
    `${"key".repeat(10)}pw is ${"key".repeat(12)}${"%2F".repeat(17)}keykey%2F\\nkeyencryption_key_dsn`,
    `${"\n| --".repeat(5)}private key${"\n| --".repeat(5)}-api-key ${"\n| --".repeat(3)}a-//`,
    "| key |\n|---|\n| a |\n",
    `{"kty":"EC","k":"${"aB3dE5fG".repeat(3)}","`,
    `"p":"${"aB3dE5fG".repeat(20)}",`,
    "-----BEGIN PRIVATE KEY-----",
    `-----BEGIN PRIVATE KEY-----${"A".repeat(10_000)}`,
    "http://a:b@c.d/",
    `http://${"a".repeat(200)}:b1C2d3E4@${"c".repeat(200)} `,
    `postgres://${"a".repeat(90)}:`,
    "AccountId=",
    "AWS_SECRET_ACCESS_KEY = ",
    "http://a.b/:x-oauth-basic@github.com/",
    '{"private_key_id":"a","private_key":"-----BEGIN PRIVATE KEY',
    "ghs_1_a.b.",
    "SG.a.SG.aghs_1_a.b.ghs_1_a.b.aaaaahvs.hvs.hvs.",
    `xoxb-1-${"xoxb-1-".repeat(9)}figd_vcp_`,
    `sk-proj-${"a1".repeat(40)}T3BlbkFJ`,
    "vca_aB3dE5fG7hI9jK1lM3nO5_",
    `cookie: sess=dp.pt.dev:signkey-test-${"sess-".repeat(9)}rootly_\n`,
    `snyk_uat.AQVN.ggldt-${"cflt".repeat(16)}@tcp(@tcp(@tcp(gsk_\n`,
    "username,password\nbob,Zk7mQwe91x\n",
    "a,password,",
    "insert into a (password) values ('aB3dE5fG7h')",
    '"element":"Password","a":"b",',
    "to Zk7mQwe91x as the password to ",
    `${"MIIEaB3dE5fG7hJ9".repeat(4)}\n-----END PRIVATE KEY-----\n`,
    `aws_secret_access_key = "${"aB3dE5fG7h".repeat(30)}`,
  ];

  const sized = (text: string, chars: number) => text.repeat(Math.ceil(chars / text.length)).slice(0, chars);
  const measureTime = (text: string) => {
    const from = process.threadCpuUsage();
    findSecrets(text);
    const { user, system } = process.threadCpuUsage(from);
    return (user + system) / 1000;
  };
  const prose = "the retry timer of the watcher is set in src/lib/x.ts and 42 others\n";

  test.each([
    ["1 MB", 1e6, [...worst, ...grown]],
    ["8 MiB", 8 * 2 ** 20, [...grown, "key_", "secret", "secret\n", "\n| key |\n|---|\n| a |\n"]],
  ] as const)(
    "%s of what is worst for each of them takes at most 120 times as long as as much prose",
    {
      timeout: 300_000,
    },
    (_size, chars, texts) => {
      const plain = sized(prose, chars);
      const usual = Math.max((3 * chars) / 1e6, Math.min(...[1, 2, 3, 4, 5].map(() => measureTime(plain))));
      // On a machine of its own it is 60 times. What is slow is so each time beside prose, also where the first times compile it, and others need the processor.
      const isSlow = (text: string) =>
        [1, 2, 3, 4, 5].every(() => measureTime(text) > 120 * Math.max(usual, measureTime(plain)));
      expect(texts.filter((text) => isSlow(sized(text, chars)))).toEqual([]);
    },
  );
});
