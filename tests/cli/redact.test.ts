import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { config } from "../../cli/commands/config.ts";
import { agreeToFirstPush } from "../../cli/commands/first-push.ts";
import { push } from "../../cli/commands/push.ts";
import { redact } from "../../cli/commands/redact.ts";
import { scan } from "../../cli/commands/scan.ts";
import { openTarget } from "../../cli/sync/push-target.ts";
import { formed } from "../unit/secrets/made-up.ts";
import { toLines, writeBelow } from "./home.ts";
import { pushInside, runInside, worldInside } from "./inside.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId } from "./world.ts";

const getSecret = (kind: string) => formed.find(([id]) => id === kind)?.[1] ?? "";
const [github, stripe, likely] = [getSecret("github"), getSecret("stripe"), "p4ssW0rd&x"];

/** A session of one turn in which secrets stand in a prompt, a tool's call and its result, and a title. */
function leakingLines(id: string, cwd = "/srv/api") {
  const text = `Use ${github} for the API. password: "${likely}"`;
  const lines = claudeLines(id, 1, { cwd, text });
  const json = JSON.stringify(lines)
    .replace("npm test -- 0", `curl -u ${stripe}: x`)
    .replace("1 tests passed", `as ${github}`);
  return [...JSON.parse(json), { type: "custom-title", customTitle: `Try ${github}`, sessionId: id }];
}

async function leakingWorld() {
  const made = await worldInside(0);
  const path = await writeBelow(made.home, claudePath(1), toLines(...leakingLines(makeId(1))));
  const sent = () => JSON.stringify(made.fake.uploads);
  const settings = async () => JSON.parse(await readFile(join(made.home, ".config/spoor/settings.json"), "utf8"));
  return { ...made, path, sent, settings };
}

const mask = (kind: string) => new RegExp(`\\[redacted:${kind}:[0-9a-f]{8}\\]`, "g");

describe("push", () => {
  test("masks secrets in texts, calls, results and titles before it sends, each always alike", async () => {
    const { host, sent, path, settings } = await leakingWorld();
    const { code, output } = await runInside(push, host);
    expect([code, output]).toEqual([0, expect.stringContaining("2 secrets were masked: GitHub token, Stripe key.")]);
    expect([sent().includes(github), sent().includes(stripe), sent().includes(likely)]).toEqual([false, false, true]);
    const masks = sent().match(mask("github")) ?? [];
    expect([masks.length, new Set(masks).size, new Set(sent().match(mask("stripe"))).size]).toEqual([3, 1, 1]);
    expect((await settings()).redactKey).toMatch(/^[0-9a-f]{64}$/);

    expect(await pushInside(host)).toMatchObject({ same: 1, sent: { sessions: 0 } });
    await appendFile(path, toLines(...claudeLines(makeId(1), 2, { text: `And ${github}` }).slice(4)));
    expect(await pushInside(host)).toMatchObject({
      sent: { sessions: 1, messages: 4 },
      secrets: { github: 1 },
      isRedacted: true,
    });
    expect(new Set(sent().match(mask("github"))).size).toBe(1);
  });

  test("masks a value that a variable told to be a secret in what follows too, where nothing tells it", async () => {
    const { host, sent, path } = await leakingWorld();
    const value = "a9B8c7D6e5F4g3H2i1J0k9L8m7N6o5P4";
    const [first, second] = [`cat .env\nSESSION_SECRET=${value}`, `is ${value} still right?`];
    const lines = [
      ...claudeLines(makeId(1), 1, { text: first }),
      ...claudeLines(makeId(1), 2, { text: second }).slice(4),
      { type: "custom-title", customTitle: `Rotate ${value}`, sessionId: makeId(1) },
    ];
    await writeFile(path, toLines(...lines));
    expect((await runInside(push, host)).code).toBe(0);
    expect(sent()).toContain("still right?");
    expect(sent()).not.toContain(value);
    const masks = sent().match(mask("environment")) ?? [];
    expect([masks.length >= 3, new Set(masks).size]).toEqual([true, 1]);
  });

  test("sends what is nested deeper than the server takes as text, masked like the rest, and none so deep stops it", async () => {
    const { host, fake, sent, path } = await leakingWorld();
    const nested = (levels: number, inner: string) =>
      `${'{"a":['.repeat(levels / 2)}${inner}${"]}".repeat(levels / 2)}`;
    const [deep, deepest] = [nested(70, JSON.stringify(github)), nested(40_000, "1")];
    const calls = [deep, deepest].map((input, at) => {
      const [, , call] = JSON.parse(JSON.stringify(claudeLines(makeId(1), at + 2)).replaceAll("2026", "2027")).slice(
        -4,
      );
      return JSON.stringify(call).replace(/"input":\{[^}]*\}/, `"input":${input}`);
    });
    await appendFile(path, `${calls.join("\n")}\n`);
    expect(await pushInside(host)).toMatchObject({ sent: { sessions: 1, messages: 6 }, left: [] });
    expect(sent()).not.toContain(github);
    expect(sent()).toContain("nested too deep");
    const levels = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levels)) : 0;
    expect(Math.max(...fake.uploads.map(levels))).toBeGreaterThan(50);
    expect(Math.max(...fake.uploads.map(levels))).toBeLessThanOrEqual(64);
  });

  test("sends them as they are with --no-redact or after `config redact off`, and says so", async () => {
    const { host, sent, path, settings } = await leakingWorld();
    const plain = await runInside(push, host, { values: { "no-redact": true } });
    expect(plain.errors).toMatch(/! 2 secrets may have been sent: GitHub token, Stripe key\. Masking is off\.\n/);
    expect(sent()).toContain(github);

    expect((await runInside(config, host, { words: ["redact", "off"] })).output).toContain(
      "redact    off  secrets are sent as they are\n",
    );
    expect((await settings()).redact).toBe(false);
    await writeFile(path, toLines(...leakingLines(makeId(1), "/srv/web")));
    expect(await pushInside(host)).toMatchObject({ isRedacted: false });
    await runInside(config, host, { words: ["redact", "on"] });
    await writeFile(path, toLines(...leakingLines(makeId(1))));
    expect(await pushInside(host)).toMatchObject({ isRedacted: true, sent: { sessions: 1 } });
  });

  test("a dry run finds the same sessions as sent before", async () => {
    const { host } = await leakingWorld();
    await pushInside(host);
    expect(await pushInside(host, { "dry-run": true })).toMatchObject({ sessions: [] });
  });
});

describe("what was found is told by project and kind, never by value:", () => {
  test("scan", async () => {
    const { host } = await leakingWorld();
    const { output } = await runInside(scan, host, { values: { "no-telemetry": true } });
    expect(output).toContain(
      "2 secrets in 1 project: masked before anything is sent\n  /srv/api  GitHub token, Stripe key\n",
    );
    expect([output.includes(github), output.includes(stripe)]).toEqual([false, false]);
    const again = await runInside(scan, host, { values: { "no-telemetry": true, json: true } });
    expect(JSON.parse(again.output)).toMatchObject({
      secrets: [{ name: "/srv/api", secrets: { github: 1, stripe: 1 } }],
    });
  });

  test("the first push", async () => {
    const { host } = await leakingWorld();
    const first = async (context: Parameters<typeof openTarget>[0]) =>
      agreeToFirstPush(context, await openTarget(context));
    const { output } = await runInside(first, host, { columns: 80, answer: "n" });
    expect(output).toContain("2 secrets in 1 project: masked before anything is sent\n");
    const off = await runInside(first, host, { columns: 80, answer: "n", values: { "no-redact": true } });
    expect(off.output).toMatch(/2 secrets in 1 project: sent unmasked\. To mask them: \S.* config redact on\n/);
  });
});

describe("redact --check", () => {
  const check = async (text: string, values = {}) => {
    const { host, home } = await worldInside(0);
    const path = await writeBelow(home, "notes.txt", text);
    const { code, output, message } = await runInside(redact, host, { values: { check: path, ...values } });
    return { code, message, output: output.replaceAll(path, "F") };
  };

  test("lists lines and kinds, and exits with 1 where something would be masked", async () => {
    const { code, output } = await check(`one\ntwo ${stripe} ${github}\npassword = "${likely}"\n`);
    const [place] = [5 + stripe.length + 1];
    expect(output.split("\n")).toEqual([
      "F:2:5  Stripe key",
      `F:2:${place}  GitHub token`,
      "F:3:13  Password or key (likely: not masked)",
      "2 secrets would be masked, 1 likely one left as it is.",
      "",
    ]);
    expect(code).toBe(1);
    expect(await check("nothing here\n")).toMatchObject({ code: 0, output: "No secret was found.\n" });
  });

  test("a file that is not there, no file, an unknown setting", async () => {
    const { host } = await worldInside(0);
    expect(await runInside(redact, host, { values: { check: "/nowhere/x" } })).toMatchObject({
      code: 1,
      message: expect.stringContaining("can't be read"),
    });
    expect(await runInside(redact, host)).toMatchObject({ code: 2 });
    expect(await runInside(config, host, { words: ["colour"] })).toMatchObject({ code: 2 });
    expect(await runInside(config, host, { words: ["redact", "maybe"] })).toMatchObject({ code: 2 });
    expect(await runInside(config, host)).toMatchObject({ code: 0, output: expect.stringContaining("redact    on ") });
  });
});
