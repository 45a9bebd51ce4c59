import { afterEach, describe, expect, test } from "vitest";
import { kinds } from "#common/secrets/kinds";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { summarizeFindings } from "#lib/findings/findings";
import { maskAllCertain, setMasking } from "#lib/findings/rulings";
import { accountTraces } from "#lib/ledger/account";
import { readPolicy } from "#lib/masking/policy";
import { findResidue } from "../support/residue.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { formed } from "../unit/secrets/made-up.ts";
import { clearTraces } from "./searching.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored, acceptText, run } = getUploads(userId);
afterEach(clearTraces);

const made = (kind: string) => formed.find(([id]) => id === kind)?.[1] ?? "";
const [github, stripe, slack] = [made("github"), made("stripe"), made("slack")];
const mask = (kind: string) => expect.stringMatching(new RegExp(`\\[redacted:${kind}:[0-9a-f]{8}\\]`));

const filler = "the retry timer is set in src/lib/x.ts ".repeat(3000);

const planted = (sourceId: string, ...more: string[]) => ({
  sourceId,
  title: `fix ${github}`,
  metadata: { env: { GITHUB_TOKEN: github, [stripe]: "as a name" } },
  messages: messages(`cat .env\n${github}`, "nothing", ...more).map((message) => ({
    ...message,
    metadata: { tool: { input: { command: `curl -u ${slack}` } } },
  })),
});

describe("what is certain to be a secret", () => {
  test("is masked before anything is stored: in texts, titles and metadata, each always alike", async () => {
    await send(planted("one"));
    const trace = await stored("one");
    expect([trace?.title, trace?.contents[0]]).toEqual([mask("github"), mask("github")]);
    expect(JSON.stringify(trace?.metadata)).toEqual(mask("stripe"));
    expect(trace?.contents[1]).toBe("nothing");
    const marks = JSON.stringify(trace).match(/redacted:github:\w+/g);
    expect(new Set(marks).size).toBe(1);
    expect(await findResidue([github, stripe, slack])).toEqual([]);
  });

  test("leaves texts of the greatest length as they are, counted in code points", async () => {
    const [sourceId, title] = ["\u{1f600}".repeat(512), "\u{1f601}".repeat(512)];
    await send({ ...planted(sourceId), title });
    expect(await stored(sourceId)).toMatchObject({ sourceId, title });
  });

  test("stays masked when the same, more, and an appended part is sent, in small batches and large ones", async () => {
    for (const more of [[], [filler]]) {
      const id = more.length === 0 ? "small" : "large";
      expect(await send(planted(id, ...more))).toMatchObject({ traces: { created: 1 } });
      expect(await send(planted(id, ...more))).toMatchObject({ traces: { unchanged: 1 }, messages: { written: 0 } });
      const grown = [...more, `later ${stripe}`];
      expect(await send(planted(id, ...grown))).toMatchObject({ traces: { updated: 1 }, messages: { written: 1 } });
      const count = grown.length + 2;
      const [last] = planted(id, ...grown, slack).messages.slice(-1);
      expect(await send({ sourceId: id, append: { count }, messages: [last] })).toMatchObject({
        traces: { updated: 1 },
        messages: { written: 1 },
      });
      expect((await stored(id))?.contents.slice(-2)).toEqual([mask("stripe"), mask("slack")]);
    }
    expect(await findResidue([github, stripe, slack])).toEqual([]);
  });

  test.each([
    ["a field of a trace", `"title":"${github}","title":"y",`, ""],
    ["a field of a message", "", `,"metadata":{"a":"${github}"},"metadata":{"a":"b"}`],
    ["a field of metadata", "", `,"metadata":{"a":"${github}","a":"b"}`],
    ["a prototype", "", `,"metadata":{"__proto__":{"a":"${github}"},"a":"b"}`],
  ])("is masked in %s that is sent twice or dropped", async (_, fields, more) => {
    const trace = `{"sourceId":"twice",${fields}"messages":[{"position":0,"content":"x"${more}}]}`;
    expect(await run(await acceptText(`{"traces":[${trace}]}`))).toMatchObject({ traces: { created: 1 } });
    expect((await stored("twice"))?.contents).toEqual(["x"]);
    expect(await findResidue([github])).toEqual([]);
  });

  test("is masked however it is written in JSON, and where it is not stored as rows", async () => {
    const escaped = [...github].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    const message = `{"position":0,"content":"${stripe}","content":"a ${escaped}"}`;
    await run(await acceptText(`{"note":"${slack}","traces":[{"sourceId":"odd","messages":[${message}]}]}`));
    expect((await stored("odd"))?.contents).toEqual([mask("github")]);
    expect(await findResidue([github, stripe, slack, escaped])).toEqual([]);
    const { rows } = await pool().query("select body from upload where body is not null");
    expect(rows.length).toBeGreaterThan(0);
  });

  test("is masked in all of its session once something beside it tells what it is", async () => {
    const value = "Kx9vQ2mZ7pLd41Rt8sWb";
    const sent = messages(`the value is ${value}`, `SESSION_SECRET=${value}`, "and no other");
    await send({ sourceId: "echo", title: value, messages: sent });
    const trace = await stored("echo");
    expect([trace?.title, ...(trace?.contents ?? [])]).toEqual([
      mask("environment"),
      mask("environment"),
      mask("environment"),
      "and no other",
    ]);
    expect(await findResidue([value])).toEqual([]);
    expect(await send({ sourceId: "echo", title: value, messages: sent })).toMatchObject({ traces: { unchanged: 1 } });
  });

  test("does not make a text longer than it may be", async () => {
    const title = `${"x".repeat(480)} https://a:Kx7!pq9@b.io`;
    await send({ sourceId: "long", title, messages: [] });
    expect((await stored("long"))?.title).not.toContain("Kx7");
  });

  test("is masked in a message's role, where it is short enough to stand there", async () => {
    const roles = ["glpat-aB3dE5fG7hJ9kL1mN2pQ", "x https://a:Kx7!pq9@b.io/path/x"];
    await send({ sourceId: "role", messages: roles.map((role, position) => ({ position, role, content: "x" })) });
    expect((await stored("role"))?.contents).toEqual(["x", "x"]);
    expect(await findResidue([roles[0] ?? "", "Kx7!pq9"])).toEqual([]);
  });

  test("of each kind", async () => {
    const [wanted, secrets] = [kinds.filter(({ forms }) => forms.length > 0), formed.map(([, secret]) => secret)];
    await send({ sourceId: "all", messages: messages(...secrets) });
    const found = (await stored("all"))?.contents.map((content) => /redacted:([\w-]+):/.exec(content)?.[1]);
    expect(new Set(found)).toEqual(new Set(wanted.map(({ id }) => id)));
  });
});

test("a session without secrets comes back as it was sent", async () => {
  const contents = ["token = await read()", "DATABASE_URL=postgres://localhost/app", `sk-list ${"é\u0000".length}`];
  await send({ sourceId: "plain", title: "t", messages: messages(...contents) });
  expect((await stored("plain"))?.contents).toEqual(contents);
});

describe("what is found is recorded", () => {
  const findings = async () => {
    const { rows } = await pool().query(
      "select position, kind, state, at from finding where user_id = $1 order by position, kind",
      [userId],
    );
    return rows.map(({ position, kind, state }) => [position, kind, state]);
  };

  test("with its place and kind, never its value; likely ones as they are stored", async () => {
    const likely = "Tr0ub4dor&3x";
    await send({
      ...planted("one"),
      messages: [...planted("one").messages, ...messages("", "", `password: "${likely}"`).slice(2)],
    });
    await accountTraces(10);
    expect(await findings()).toEqual([
      [-1, "github", "masked"],
      [-1, "stripe", "masked"],
      [0, "github", "masked"],
      [0, "slack", "masked"],
      [1, "slack", "masked"],
      [2, "assignment", "open"],
    ]);
    const residue = (await findResidue([likely])).filter(
      ({ table }) => !["public.message", "public.upload"].includes(table),
    );
    expect(residue).toEqual([]);
    await send({ sourceId: "one", replace: true, messages: messages("gone") });
    await accountTraces(10);
    expect(await findings()).toEqual([]);
  });
});

describe("masking", () => {
  afterEach(async () => {
    for (const table of ["secret_policy", "project_alias", "project"]) await pool().query(`delete from ${table}`);
  });

  const session = (sourceId: string, more: object = {}, ...contents: string[]) => ({
    ...{ sourceId, project: "api", messages: messages(`GITHUB_TOKEN=${github}`, ...contents), ...more },
  });
  const isMasked = async (sourceId: string) => !(await stored(sourceId))?.contents.join("\n").includes(github);
  const projectId = async (name: string) =>
    (await pool().query("select id from project where user_id = $1 and name = $2", [userId, name])).rows[0]
      ?.id as string;

  test("that was stopped until a time begins again then, also for what was accepted before", async () => {
    const until = new Date(Date.now() + 60_000);
    await setMasking(userId, false, operator, { until });
    const before = await readPolicy(userId);
    const after = await readPolicy(userId, undefined, until);
    expect([before.masks, after.masks, before.stamp === after.stamp]).toEqual([false, true, false]);
    expect(await summarizeFindings(userId)).toMatchObject({ masks: false, until });
    await send(session("meanwhile"));
    expect(await isMasked("meanwhile")).toBe(false);
    await pool().query("update secret_policy set masks_again_at = now()");
    await send(session("later"));
    expect(await isMasked("later")).toBe(true);
    expect(await summarizeFindings(userId)).toMatchObject({ masks: true, stopped: [] });
  });

  test("is stopped in one project, by whatever tells it, and in no other", async () => {
    const repository = "https://git.example.org/x/shop";
    await send(session("first"), session("second", { metadata: { repository, cwd: "/srv/shop" } }));
    await accountTraces(10);
    await setMasking(userId, false, operator, { projectId: await projectId("api") });
    await setMasking(userId, false, operator, { projectId: await projectId("shop") });
    expect((await summarizeFindings(userId)).stopped.map(({ name }) => name)).toEqual(["api", "shop"]);
    await send(session("small"), session("large", {}, filler));
    await send(session("by remote", { metadata: { repository } }));
    await send(session("other", { project: "web" }), session("none", { project: undefined }));
    await send(session("elsewhere", { metadata: { cwd: "/srv/api" } }));
    const masked = async (...ids: string[]) => Promise.all(ids.map(isMasked));
    expect(await masked("small", "large", "by remote")).toEqual([false, false, false]);
    expect(await masked("first", "second", "other", "none", "elsewhere")).toEqual([true, true, true, true, true]);
    await setMasking(userId, true, operator, { projectId: await projectId("shop") });
    await send(session("again", { metadata: { repository } }));
    expect(await masked("again")).toEqual([true]);
    await maskAllCertain(userId, operator);
    expect((await summarizeFindings(userId)).stopped).toEqual([]);
    await send(session("last"));
    expect(await masked("last")).toEqual([true]);
  });

  test("is not stopped in another person's project, which is a missing one", async () => {
    await send(session("mine"));
    await accountTraces(10);
    const other = await makeUser({ name: "Bo", email: "bo@example.org", password: "correct horse battery" });
    const stop = setMasking(other, false, operator, { projectId: await projectId("api") });
    await expect(stop).rejects.toMatchObject({ code: "not_found" });
    expect((await readPolicy(userId)).unmasked).toEqual([]);
  });
});
