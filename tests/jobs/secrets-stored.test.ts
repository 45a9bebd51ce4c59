import { afterEach, describe, expect, test, vi } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { listFindings, summarizeFindings } from "#lib/findings/findings";
import { decide, maskAllCertain, setMasking } from "#lib/findings/rulings";
import { findingsQuery } from "#lib/findings/schema";
import { deleteTasks, readTasks } from "#lib/ingest/masking/sql";
import { maskStored } from "#lib/ingest/masking/stored";
import { purgeUploads } from "#lib/ingest/raw/retention";
import { accountTraces } from "#lib/ledger/account";
import { purgeFacets } from "#lib/ledger/sql/facets";
import { settleProjects } from "#lib/projects/settle";
import { withIndexLock } from "#lib/search/index/sql/write";
import { setMarks } from "#lib/traces/marks";
import { afterNext, waitingForLocks } from "../support/meanwhile.ts";
import { findResidue, isIndexed } from "../support/residue.ts";
import { provideOwner } from "../support/server.ts";
import { formed } from "../unit/secrets/made-up.ts";
import { clearTraces, indexAll, searchSourceIds } from "./searching.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored, accept, run } = getUploads(userId);
afterEach(async () => {
  await clearTraces();
  await pool().query("delete from finding");
  await pool().query("delete from secret_ruling");
  await pool().query("delete from secret_policy");
});

const likely = "Tr0ub4dorx3zyx9";
const stripe = formed.find(([id]) => id === "stripe")?.[1] ?? "";
const github = formed.find(([id]) => id === "github")?.[1] ?? "";
const session = (sourceId: string, ...more: string[]) => ({
  sourceId,
  title: "t",
  messages: messages("nothing", `password: "${likely}"`, ...more),
});
const find = async (query: object = {}) => (await listFindings(userId, findingsQuery.parse(query))).findings;
const settle = async () => {
  await accountTraces(10);
  while ((await maskStored(10)) > 0);
  await accountTraces(10);
};

describe("a secret that is masked everywhere", () => {
  test("is in no table, upload or posting afterwards, and no upload brings it back", { timeout: 120_000 }, async () => {
    await send(session("one"), session("two", "more"));
    await accept([session("one", "queued")]); // masked when it is processed
    const failing = await accept([session("three")]);
    await pool().query("update ingest_job set status = 'failed' where id = $1", [failing]);
    await indexAll();
    await accountTraces(10);
    const [found] = await find({ state: "open" });
    expect(found).toMatchObject({ kind: "assignment", certain: false, positions: [1], name: "Password or key" });
    expect(await isIndexed(likely)).toBe(true);

    await decide(userId, { ...(found as { kind: string; mark: string }), verdict: "mask" }, operator);
    expect((await find()).map(({ state }) => state)).toEqual(["masking", "masking"]);
    await settle();
    await indexAll();
    expect(await isIndexed(likely)).toBe(false);
    expect((await find()).map(({ state }) => state)).toEqual(["masked", "masked"]);
    expect((await stored("two"))?.contents[1]).toBe(`password: "[redacted:assignment:${found?.mark}]"`);
    const queued = await pool().query("select id from ingest_job where status = 'queued'");
    for (const { id } of queued.rows) expect(await run(id)).toMatchObject({ status: "succeeded" });
    await purgeUploads();
    expect(await findResidue([likely])).toEqual([]);

    expect(await send(session("two", "more"))).toMatchObject({ traces: { unchanged: 1 } });
    expect(await send(session("two", "more", "and more"))).toMatchObject({ messages: { written: 1 } });
    await pool().query("update ingest_job set status = 'queued' where id = $1", [failing]);
    expect(await run(failing)).toMatchObject({ traces: { created: 1 } });
    expect((await stored("three"))?.contents[1]).toContain("[redacted:assignment:");
    await settle();
    expect(await findResidue([likely])).toEqual([]);
  });

  test("is in nothing that was derived from the session, nor where nothing beside it tells what it is", async () => {
    const told = `password=${likely}`;
    const ran = (name: string, input: object, output: string) => [
      { role: "assistant", content: name, metadata: { tool: { name, callId: name, input, content: "call" } } },
      { role: "tool", content: output, metadata: { result: { callId: name } } },
    ];
    const said = [
      { role: "user", content: `it is ${likely}`, metadata: { branch: told, gitBranch: told, alone: likely } },
      { role: "assistant", content: likely },
      ...ran("Edit", { file_path: `/srv/${told}/x.ts`, old_string: "a", new_string: "b" }, "done"),
      ...ran("Bash", { command: `git commit -m ${told}` }, `[topic 1a2b3c4] ${told}`),
    ];
    await send({
      ...{ sourceId: "wide", source: "claude-code", title: told, project: told },
      metadata: { cwd: "/srv", branch: told, repository: `git.internal/ada/${told}` },
      messages: said.map((message, position) => ({ ...message, position })),
    });
    const { id = "" } = (await stored("wide")) ?? {};
    await setMarks(userId, id, { title: `mine: ${told}`, note: `see ${told}` });
    await indexAll();
    await accountTraces(10);
    const tables = new Set((await findResidue([likely])).map(({ table }) => table));
    for (const table of ["trace_file", "trace_commit", "project", "trace_branch"])
      expect(tables).toContain(`public.${table}`);
    for (const { kind, mark } of await find({ state: "open" }))
      await decide(userId, { kind, mark, verdict: "mask" }, operator);
    await settle();
    await settleProjects(10);
    await settle();
    await indexAll();
    await Promise.all([purgeUploads(), purgeFacets()]);
    expect(await findResidue([likely])).toEqual([]);
    const masked = expect.stringMatching(/^(?:it is )?\[redacted:assignment:[0-9a-f]{8}\]$/);
    expect((await stored("wide"))?.contents.slice(0, 2)).toEqual([masked, masked]);
  });

  test("leaves nothing in what the ledger makes of a session that it is reading meanwhile", async () => {
    const edit = {
      name: "Edit",
      callId: "1",
      input: { file_path: `/srv/password=${likely}/x.ts`, old_string: "a" },
      content: "",
    };
    await send({
      ...{ sourceId: "read", source: "claude-code", metadata: { cwd: "/srv" } },
      messages: [{ position: 0, role: "assistant", content: "Edit", metadata: { tool: edit } }],
    });
    await accountTraces(10);
    const [{ kind, mark } = { kind: "", mark: "" }] = await find({ state: "open" });
    await decide(userId, { kind, mark, verdict: "mask" }, operator);
    await pool().query("update trace set ledger_due = true, accounted_to = 0");
    afterNext("from message where message.user_id", () => maskStored(10));
    await accountTraces(10);
    await settle();
    await purgeUploads();
    expect(await findResidue([likely])).toEqual([]);
  });

  test("leaves the session searchable that was indexed before the index could be cleaned", async () => {
    await send(session("one"));
    await indexAll();
    await accountTraces(10);
    const [{ kind, mark } = { kind: "", mark: "" }] = await find({ state: "open" });
    await decide(userId, { kind, mark, verdict: "mask" }, operator);
    await withIndexLock(async () => expect(await maskStored(10)).toBe(0));
    await indexAll();
    expect(await maskStored(10)).toBe(1);
    expect(await searchSourceIds(userId, "nothing")).toEqual(["one"]);
    expect(await isIndexed(likely)).toBe(false);
  });

  test("is masked here alone where that was asked", async () => {
    await send(session("one"), session("two"));
    await accountTraces(10);
    const found = (await find()).find(({ title }) => title === "T");
    const { traceId: trace, kind, mark } = found as { traceId: string; kind: string; mark: string };
    await decide(userId, { kind, mark, trace, verdict: "mask" }, operator);
    await settle();
    const states = (await find()).map(({ state, traceId }) => [state, traceId === trace]);
    expect(states.sort()).toEqual([
      ["masked", true],
      ["open", false],
    ]);
    await send(session("one", "again"), session("two", "again"));
    await settle();
    const contents = await Promise.all(["one", "two"].map(async (id) => (await stored(id))?.contents[1]));
    expect(contents.filter((content) => content?.includes(likely)).length).toBe(1);
  });
});

test("a secret is masked also where the clock was set back since the decision before, by which a worker still masks", async () => {
  const other = "Xk7qPm2vWn9zRt4L";
  await send(session("one", `password: "${other}"`));
  await accountTraces(10);
  const [one, two] = (await find({ state: "open" })) as { kind: string; mark: string }[];
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
  await decide(userId, { ...one, verdict: "mask" } as never, operator);
  const begun = await readTasks(userId, 10, new Map(), []);
  vi.useRealTimers();
  await decide(userId, { ...two, verdict: "mask" } as never, operator);
  await deleteTasks(userId, begun); // as at its end
  await settle();
  const contents = (await stored("one"))?.contents.join();
  expect([contents?.includes(likely), contents?.includes(other)]).toEqual([false, false]);
});

test("what stands in metadata is found as it is masked: lines of a key, and a field that its name tells", async () => {
  await setMasking(userId, false, operator);
  const pem = formed.find(([id]) => id === "private-key")?.[1] ?? "";
  const block = `-----BEGIN PRIVATE KEY-----\n${"aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2pQ4rS6tU8vW0\n".repeat(4)}-----END PRIVATE KEY-----`;
  const metadata = { output: `${block}\n${pem}`, settings: { password: likely } };
  await send({ sourceId: "one", messages: messages("x").map((message) => ({ ...message, metadata })) });
  await accountTraces(10);
  const found = await find({ state: "open" });
  expect(found.map(({ kind }) => kind).sort()).toEqual(["assignment", "private-key", "private-key"]);
  for (const { kind, mark } of found) await decide(userId, { kind, mark, verdict: "mask" }, operator);
  await settle();
  expect((await find()).map(({ state }) => state)).toEqual(["masked", "masked", "masked"]);
  expect(await findResidue([likely, pem, "aB3dE5fG7hJ9kL1mN2pQ4rS6"])).toEqual([]);
});

test("what is no secret stays as it comes, also of a kind that is masked", async () => {
  await setMasking(userId, false, operator);
  await send({ sourceId: "one", messages: messages(github) });
  await accountTraces(10);
  const [found] = await find();
  expect(found).toMatchObject({ kind: "github", state: "open", certain: true });
  await decide(userId, { kind: "github", mark: found?.mark ?? "", verdict: "keep" }, operator);
  await setMasking(userId, true, operator);
  await send({ sourceId: "one", messages: messages(github, github) });
  await settle();
  expect((await stored("one"))?.contents).toEqual([github, github]);
  expect((await find()).map(({ state }) => state)).toEqual(["kept"]);
});

test("what was stored before anything was masked is flagged, and masked when its owner says so", async () => {
  await setMasking(userId, false, operator);
  await send({ sourceId: "old", title: stripe, metadata: { at: stripe }, messages: messages(stripe) });
  await accountTraces(10);
  expect(await summarizeFindings(userId)).toMatchObject({ masks: false, counts: [{ kind: "stripe", state: "open" }] });
  expect(await maskAllCertain(userId, operator)).toBe(1);
  await settle();
  expect(await findResidue([stripe])).toEqual([]);
  expect(await summarizeFindings(userId)).toMatchObject({ masks: true, masking: 0, counts: [{ state: "masked" }] });
});

test.each([
  ["one secret", (found: { kind: string; mark: string }) => decide(userId, { ...found, verdict: "mask" }, operator)],
  ["all that are certain", () => maskAllCertain(userId, operator)],
])("a decision to mask %s is kept that comes while the ledger looks for secrets", async (_, decideOf) => {
  await setMasking(userId, false, operator);
  await send({ sourceId: "one", messages: messages("nothing", stripe) });
  await accountTraces(10);
  const [found] = await find({ state: "open" });
  await pool().query("update trace set ledger_due = true, accounted_to = 0");
  let decided: Promise<unknown> | undefined;
  afterNext("from secret_ruling where", async () => {
    decided = decideOf(found as { kind: string; mark: string });
    await expect.poll(waitingForLocks).toBe(1);
  });
  await accountTraces(10);
  await decided;
  await settle();
  expect((await find()).map(({ state }) => state)).toEqual(["masked"]);
  expect((await stored("one"))?.contents[1]).toBe(`[redacted:stripe:${found?.mark}]`);
});

test("long messages are masked beside the thread that answers others", async () => {
  const long = "x\nsecret-".repeat(200_000);
  await send({
    sourceId: "long",
    title: "t",
    messages: messages(`password: "${likely}"`, long, `it is ${likely}`),
  });
  await accountTraces(60);
  const { kind = "", mark = "" } = (await find({ state: "open" })).find((one) => one.kind === "assignment") ?? {};
  await decide(userId, { kind, mark, verdict: "mask" }, operator);
  const [whole, own] = [process.cpuUsage(), process.threadCpuUsage()];
  expect(await maskStored(10)).toBe(1);
  const add = ({ user, system }: { user: number; system: number }) => user + system;
  const [all, here] = [add(process.cpuUsage(whole)), add(process.threadCpuUsage(own))];
  const { contents = [] } = (await stored("long")) ?? {};
  const placeholder = `[redacted:assignment:${mark}]`;
  expect(contents.map((one) => one.slice(0, 60))).toEqual([
    `password: "${placeholder}"`,
    long.slice(0, 60),
    `it is ${placeholder}`,
  ]);
  expect(here).toBeLessThan(all / 2);
});

test("a cursor that no list gave out is refused, whatever is in it", async () => {
  for (const id of ["a\0b", "a\ud800b", ""]) {
    const cursor = Buffer.from(JSON.stringify(["2026-11-20T10:00:00.000Z", id])).toString("base64url");
    await expect(find({ cursor })).rejects.toMatchObject({ code: "invalid_request" });
  }
});
