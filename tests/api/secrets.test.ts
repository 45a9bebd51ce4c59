import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { afterAll, expect, inject, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { openSetup } from "#lib/auth/setup";
import { createTokenByHand } from "#lib/auth/tokens";
import { closeDatabase, pool } from "#lib/db/client";
import { freePort } from "#lib/db/ports";
import { setEnv } from "#lib/env";
import { decide } from "#lib/findings/rulings";
import { shareTrace } from "#lib/traces/shares";
import { linesOf, writeBelow } from "../cli/home.ts";
import { claudeLines } from "../cli/sessions.ts";
import { SpoorProcess } from "../faults/process.ts";
import { until } from "../faults/wait.ts";
import { indexAll } from "../jobs/searching.ts";
import { download, provideClient } from "../support/client.ts";
import { freshDatabase, testEnvironment } from "../support/database.ts";
import { run, urlOf } from "../support/nodes.ts";
import { findResidue, indexedWords } from "../support/residue.ts";
import { startS3 } from "../support/s3.ts";
import { get, ingest, makeUser, post, setupToken } from "../support/server.ts";
import { formed } from "../unit/secrets/made-up.ts";
import { planted } from "../unit/secrets/planted.ts";
import { bearer } from "./client.ts";

const database = await freshDatabase();
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
const web = new SpoorProcess("web", environment);
const worker = new SpoorProcess("worker", environment);
const copies: string[] = [];
afterAll(async () => {
  await Promise.all([web.kill(), worker.kill()]);
  await closeDatabase();
  for (const copy of copies) await onAll(`drop database if exists ${copy} with (force)`);
  setEnv({ DATABASE_URL: database.url });
  await database.drop();
  await store.stop();
});
await Promise.all([web.ready(), worker.ready()]);

const onAll = (statement: string) => Promise.all(inject("nodes").map((node) => run(node, statement)));

/** What is certain to be a secret, however it stands in a session, and what only may be one. */
const certain = formed.map(([, secret]) => secret);
const likely = ["Tr0ub4dorx3zyx9", "kx9vQ2mZ7pLd41"];
const all = [...certain, ...likely];
const others = planted.map(({ secret }) => secret);

const said = (text: string, position: number) => ({
  position,
  role: position % 2 === 0 ? "user" : "assistant",
  content: `$ cat .env\n${text}`,
  metadata: { tool: { name: "Bash", input: { command: `echo ${text}` }, result: [text, { text }] } },
});
/** A session with every secret, as a client sends it that masks nothing. */
const leaking = (sourceId: string, ...more: string[]) => ({
  sourceId,
  title: `fix ${certain[1]}`,
  project: `api ${certain[2]}`,
  metadata: { env: { GITHUB_TOKEN: certain[1], [`${certain[3]}`]: 1 }, branch: certain[4] },
  messages: [
    ...certain,
    `password: "${likely[0]}"`,
    `db_password = "${likely[1]}"`,
    ...planted.map(({ text }) => text),
    ...more,
  ].map(said),
});

/** The objects of the store, decompressed. */
async function objects(): Promise<string> {
  const names = await readdir(store.folder, { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const bytes = await Promise.all(files.map((file) => readFile(file)));
  return bytes.map((one) => (one.readUInt32LE(0) === 0xfd2fb528 ? `${zstdDecompressSync(one)}` : `${one}`)).join("\n");
}

const without = (text: string, values: string[]) => values.filter((value) => text.includes(value));

/** Everything that leaves the server about these sessions, as others get it and as their owner does. */
async function answers(share: string, traceId: string) {
  const read = async (path: string) => (await get(server, path, token)).text();
  const call = (name: string, args: object) =>
    post(
      server,
      "/mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
      { ...bearer(token), Accept: "application/json, text/event-stream" },
    ).then((answer) => answer.text());
  const forOthers = [
    await fetch(share).then((answer) => answer.text()),
    await read(`/api/traces/${traceId}/export.md?for=github`),
    await read(`/api/traces/export?masked=secrets&id=${traceId}`),
    await read(`/api/traces/${traceId}/export.md?masked=all`),
    await call("search_sessions", { query: "cat" }),
    await call("read_session", { session: traceId }),
  ];
  const forOwner: string[] = [];
  for (const path of [
    "/api/traces/export",
    `/api/traces/${traceId}/export.md`,
    `/api/traces/${traceId}/messages?limit=1000`,
    "/api/traces?q=password",
    "/api/findings?limit=200",
  ])
    forOwner.push(await read(path));
  return { forOthers, forOwner: forOwner.join("\n") };
}

/** The database as it is, by another name: what a backup would bring back. */
async function backUp(name: string): Promise<string> {
  await onAll(`create database ${name} template ${new URL(database.url).pathname.slice(1)} strategy file_copy`);
  copies.push(name);
  return urlOf(inject("nodes")[0] ?? "", name);
}

const findings = async (query: string) =>
  (await (await get(server, `/api/findings?${query}`, token)).json()).findings as { kind: string; mark: string }[];
const restart = async () => {
  await Promise.all([web.kill(), worker.kill()]);
  await closeDatabase();
};

test("no secret of a home survives in tables, index, store, logs or exports, whoever sent it, and none comes back", {
  timeout: 240_000,
}, async () => {
  expect((await ingest(server, token, [leaking("raw")])).error).toBeNull();
  const client = await provideClient((folder) => download(server.url, folder));
  const id = "00000000-0000-4000-8000-000000000001";
  const path = join(".claude/projects/-home-ada-code-api", `${id}.jsonl`);
  await writeBelow(client.home, path, linesOf(...claudeLines(id, 2, { text: [...certain, ...others].join(" \n") })));
  const push = (...words: string[]) => client.run(["push", "--yes", ...words], { SPOOR_TOKEN: token });
  const pushed = [await push("--no-redact"), await push()];
  expect(pushed.map(({ code }) => code)).toEqual([0, 0]);
  expect(without(pushed.map(({ output, errors }) => output + errors).join(""), all)).toEqual([]);

  await until(
    60,
    "the likely secrets are listed",
    async () => (await findings("kind=assignment&limit=200")).length > 1,
  );
  const { rows } = await pool().query("select id from trace where source_id = 'raw'");
  const traceId = rows[0]?.id as string;
  const sharing = { days: 1, from: null, to: null, masked: true };
  const share = await shareTrace(userId, traceId, sharing, operator);
  const before = await answers(share, traceId);
  for (const answer of before.forOthers) expect(answer).toContain("[redacted:");
  expect(without(before.forOthers.join(), [...all, ...others])).toEqual([]);
  expect(without(before.forOwner, certain)).toEqual([]);
  expect(without(before.forOwner, likely)).toEqual(likely);
  expect(await findResidue(certain)).toEqual([]);

  const open = await findings("state=open&limit=200");
  expect(open.length).toBeGreaterThan(1);
  for (const { kind, mark } of open) await decide(userId, { kind, mark, verdict: "mask" }, operator);
  await until(60, "all are masked, and their uploads removed", async () => {
    const { rows: tasks } = await pool().query("select 1 from masking_task limit 1");
    return tasks.length === 0 && (await findings("state=masking")).length === 0;
  });
  const later = await ingest(server, token, [leaking("raw"), leaking("again"), leaking("grown", certain[5] ?? "")]);
  expect(later).toMatchObject({ error: null, traces: { created: 2 } });
  expect((await push()).code).toBe(0);
  await indexAll();
  const after = await answers(share, traceId);
  expect(without(after.forOthers + after.forOwner, all)).toEqual([]);
  expect(await findResidue(all)).toEqual([]);
  await until(60, "the store's objects are removed", async () => {
    return (await pool().query("select 1 from object_removal limit 1")).rowCount === 0;
  });
  const stored = await objects();
  expect(stored).toContain("cat .env");
  expect(without(stored, all)).toEqual([]);
  const words = (await indexedWords()).join(" ");
  expect(
    without(
      words,
      all.map((one) => one.toLowerCase()),
    ),
  ).toEqual([]);
  expect(words).toContain("env");

  for (const one of [web, worker]) one.signal("SIGTERM");
  await Promise.all([web.ended(), worker.ended()]);
  expect(without(web.output + worker.output, all)).toEqual([]);
  await restart();
  setEnv({ DATABASE_URL: await backUp(`backup_${port}`) });
  expect((await pool().query("select 1 from message limit 1")).rows).toHaveLength(1);
  expect(await findResidue(all)).toEqual([]);
});
