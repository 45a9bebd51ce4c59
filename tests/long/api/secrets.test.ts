import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { afterAll, expect, inject, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { createTokenByHand } from "#lib/auth/tokens";
import { setEnv } from "#lib/core/env";
import { closeDatabase, pool } from "#lib/db/client";
import { freePort } from "#lib/db/embedded/ports";
import { decide } from "#lib/findings/rulings";
import { shareTrace } from "#lib/shares/shares";
import { toLines, writeBelow } from "../../cli/home.ts";
import { claudeLines } from "../../cli/sessions.ts";
import { SpoorProcess } from "../../faults/process.ts";
import { until } from "../../faults/wait.ts";
import { indexAll } from "../../jobs/searching.ts";
import { download, provideClient } from "../../support/client.ts";
import { freshDatabase, testEnvironment } from "../../support/database.ts";
import { canDump, dump, restore, startDumped } from "../../support/dump.ts";
import { copyDatabase, dropDatabase, isDistributed, makeUrl } from "../../support/nodes.ts";
import { findResidue, indexedWords } from "../../support/residue.ts";
import { startS3 } from "../../support/s3.ts";
import { get, ingest, makeUser, setupToken } from "../../support/server.ts";
import { planted } from "../../unit/secrets/planted.ts";
import { all, certain, everything, getTraces, leaking, likely, without } from "./leaking.ts";
import { answers, rawUploads, refusals } from "./leaving.ts";

const database = canDump ? await startDumped() : await freshDatabase();
const port = await freePort();
const server = { url: `http://localhost:${port}`, stop: async () => {} };
const store = await startS3();
const environment = {
  ...testEnvironment,
  ...store.settings,
  DATABASE_URL: database.url,
  PORT: String(port),
  BASE_URL: server.url,
  SETUP_TOKEN: setupToken,
  NODE_ENV: "production",
  LOG_LEVEL: "debug",
};
setEnv(environment);
await openSetup();
const userId = await makeUser();
const token = await createTokenByHand(userId, "ada-laptop", operator);
const asked = { at: server, token };
const web = new SpoorProcess("web", environment);
const worker = new SpoorProcess("worker", environment);
const copies: string[] = [];
afterAll(async () => {
  await Promise.all([web.kill(), worker.kill()]);
  await closeDatabase();
  for (const copy of copies) await onAll((node) => dropDatabase(node, copy));
  setEnv({ DATABASE_URL: database.url });
  await database.drop();
  await store.stop();
});
await Promise.all([web.ready(), worker.ready()]);

const onAll = (work: (node: string) => Promise<void>) => Promise.all(inject("nodes").map(work));

/** The objects of the store, decompressed. */
async function objects(): Promise<string> {
  const names = await readdir(store.folder, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const bytes = await Promise.all(files.map((file) => readFile(file)));
  return bytes.map((one) => (one.readUInt32LE(0) === 0xfd2fb528 ? `${zstdDecompressSync(one)}` : `${one}`)).join("\n");
}

/** What the client has written below its home, but for the sessions and itself. */
async function writtenBy(home: string): Promise<string> {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const own = files.filter((file) => !file.includes("/.claude/") && !file.endsWith("spoor.mjs"));
  expect(own.length).toBeGreaterThan(0);
  return (await Promise.all(own.map((file) => readFile(file, "latin1")))).join("\n");
}

/** A machine with a session that has every secret, and a client that masks them, or as an earlier one does not. */
async function machine(number: number, ...words: string[]) {
  const client = await provideClient((folder) => download(server.url, folder));
  const id = `00000000-0000-4000-8000-00000000000${number}`;
  const path = join(".claude/projects/-home-ada-code-api", `${id}.jsonl`);
  const text = [
    ...certain,
    ...planted.map((one) => one.text),
    `password: "${likely[0]}"`,
    `db_password = "${likely[1]}"`,
  ].join(" \n");
  const run = (...given: string[]) => client.run(given, { SPOOR_TOKEN: token });
  return {
    home: client.home,
    /** Sends the session, which has so many turns now. */
    async push(turns: number) {
      await writeBelow(client.home, path, toLines(...claudeLines(id, turns, { text })));
      return run("push", "--yes", ...words);
    },
    /** What its other commands print. */
    async told() {
      const ended = [await run("status"), await run("scan"), await run("doctor"), await run("recall", "cat env")];
      for (const { output } of ended) expect(output).not.toBe("");
      return ended.map(({ output, errors }) => output + errors).join("\n");
    },
  };
}

/** The database as a backup brings it back. @returns its URL, and what the backup's file has */
async function backUp(name: string): Promise<{ url: string; text: string }> {
  copies.push(name);
  if (canDump) {
    const file = await dump(database.url);
    return { url: await restore(file.path, name), text: file.text };
  }
  if (!isDistributed)
    process.stdout.write("A database is copied instead of dumped: there is no other PostgreSQL here.\n");
  await onAll((node) => copyDatabase(node, new URL(database.url).pathname.slice(1), name));
  return { url: makeUrl(inject("nodes")[0] ?? "", name), text: "" };
}

type Found = { kind: string; mark: string };
/** All findings of a query, whatever pages they are on. */
async function findings(query: string): Promise<Found[]> {
  const all: Found[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer = await get(server, `/api/findings?${query}&limit=200${cursor && `&cursor=${cursor}`}`, token);
    const page = (await answer.json()) as { findings: Found[]; nextCursor: string | null };
    all.push(...page.findings);
    cursor = page.nextCursor;
  }
  return all;
}

test("no secret of a home survives in tables, index, store, logs or exports, whoever sent it, and none comes back", {
  timeout: 240_000,
}, async () => {
  expect((await ingest(server, token, [leaking("raw")])).error).toBeNull();
  const clients = [await machine(1, "--no-redact"), await machine(2)];
  const push = async (turns: number) => {
    const pushed = [];
    for (const one of clients) pushed.push(await one.push(turns));
    for (const { code, output } of pushed)
      expect([code, output]).toEqual([0, expect.stringMatching(/^✓ Sent 1 session/)]);
    expect(without(pushed.map(({ output, errors }) => output + errors).join(""), all)).toEqual([]);
  };
  await push(2);

  await until(60, "the likely secrets are listed", async () => {
    const { rowCount } = await pool().query("select 1 from trace where ledger_due limit 1");
    return rowCount === 0 && (await findings("kind=assignment")).length > 1;
  });
  const { rows } = await pool().query("select id from trace where source_id = 'raw'");
  const traceId = rows[0]?.id as string;
  const sharing = { days: 1, from: null, to: null, masked: true };
  const share = await shareTrace(userId, traceId, sharing, operator);
  const before = await answers(asked, share, traceId);
  expect(without(before.forOthers.join(), everything)).toEqual([]);
  expect(without(before.forOwner, certain)).toEqual([]);
  expect(without(before.forOwner, likely)).toEqual(likely);
  expect(await findResidue(certain.flatMap(getTraces))).toEqual([]);
  expect(without(await objects(), certain)).toEqual([]);
  expect(without(await rawUploads(asked), certain)).toEqual([]);
  expect(without(await refusals(asked), certain)).toEqual([]);

  const open = await findings("state=open");
  expect(open.length).toBeGreaterThan(1);
  const marks = new Map(open.map((one) => [`${one.kind} ${one.mark}`, one]));
  for (const { kind, mark } of marks.values()) await decide(userId, { kind, mark, verdict: "mask" }, operator);
  await until(60, "all are masked, and their uploads removed", async () => {
    const { rows: tasks } = await pool().query("select 1 from masking_task limit 1");
    return tasks.length === 0 && (await findings("state=masking")).length === 0;
  });
  const later = await ingest(server, token, [leaking("raw"), leaking("again"), leaking("grown", certain[5] ?? "")]);
  expect(later).toMatchObject({ error: null, traces: { created: 2 } });
  await push(3);
  for (const client of clients) {
    expect(without(await client.told(), everything)).toEqual([]);
    expect(without(await writtenBy(client.home), everything)).toEqual([]);
  }
  await indexAll();
  const after = await answers(asked, share, traceId);
  expect(without(after.forOthers + after.forOwner, everything)).toEqual([]);
  expect(await findResidue(everything.flatMap(getTraces))).toEqual([]);
  await until(60, "the store's objects are removed", async () => {
    return (await pool().query("select 1 from object_removal limit 1")).rowCount === 0;
  });
  const stored = await objects();
  expect(stored).toContain("cat .env");
  expect(without(stored, everything)).toEqual([]);
  const words = (await indexedWords()).join(" ");
  expect(without(words, everything)).toEqual([]);
  expect(words).toContain("env");

  for (const one of [web, worker]) one.signal("SIGTERM");
  await Promise.all([web.ended(), worker.ended()]);
  expect(web.output).toContain("/api/ingest");
  expect(without(web.output + worker.output, everything)).toEqual([]);
  await closeDatabase();
  const backup = await backUp(`backup_${port}`);
  if (canDump) expect(backup.text).toContain("cat .env");
  expect(without(backup.text, everything)).toEqual([]);
  setEnv({ DATABASE_URL: backup.url });
  expect((await pool().query("select 1 from message limit 1")).rows).toHaveLength(1);
  expect(await findResidue(everything.flatMap(getTraces))).toEqual([]);

  // The restored server knows what was decided: the same sessions, sent again and anew, bring nothing back.
  const restored = { ...environment, DATABASE_URL: backup.url };
  const again = [new SpoorProcess("web", restored), new SpoorProcess("worker", restored)];
  try {
    await Promise.all(again.map((one) => one.ready()));
    const resent = await ingest(server, token, [leaking("raw", "one more"), leaking("anew")]);
    expect(resent).toMatchObject({ error: null, traces: { created: 1 } });
    await indexAll();
    const last = await answers(asked, share, traceId);
    expect(without(last.forOthers + last.forOwner, everything)).toEqual([]);
    expect(await findResidue(everything.flatMap(getTraces))).toEqual([]);
    expect(without(await objects(), everything)).toEqual([]);
    expect(without(again.map(({ output }) => output).join(""), everything)).toEqual([]);
  } finally {
    await Promise.all(again.map((one) => one.kill()));
  }
});
