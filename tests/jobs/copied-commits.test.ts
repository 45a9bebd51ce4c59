import { afterEach, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool, transaction } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { readTurnedPullRequests } from "#lib/ledger/sql/copies";
import { readPullRequest } from "#lib/pull-requests/pull-requests";
import { deleteTrace } from "#lib/traces/deletion";
import { readEvidence } from "#lib/traces/evidence";
import { listTraces } from "#lib/traces/queries";
import { provideOwner } from "../support/server.ts";
import { clearTraces } from "./searching.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);
afterEach(async () => {
  await clearTraces();
  for (const table of ["trace_branch", "trace_commit", "trace_pull_request"])
    await pool().query(`delete from ${table}`);
});

const url = "https://github.com/ada/api/pull/12";
type Message = { position: number; content: string; createdAt?: string; metadata: Record<string, unknown> };

const ran = (from: number, command: string, output: string): Message[] => [
  {
    position: from,
    content: command,
    createdAt: `2026-10-01T10:00:0${from}.123Z`,
    metadata: { tool: { name: "Bash", callId: `c${from}`, input: { command }, content: "call" } },
  },
  {
    position: from + 1,
    content: output,
    createdAt: `2026-10-01T10:00:0${from + 1}.123Z`,
    metadata: { result: { callId: `c${from}` } },
  },
];
const lines = [...ran(0, "git commit -m x", "[topic abc1234] Mend"), ...ran(2, "gh pr create --fill", url)];
const own = ran(4, "git commit -m y", "[topic def5678] More");
const marked = lines.map(({ metadata, ...line }) => ({ ...line, metadata: { ...metadata, replayed: true } }));

const sync = async (sourceId: string, messages: object[], metadata: object = {}) => {
  await send({ sourceId, messages, metadata });
  await accountTraces(30);
};

/** What came of sessions, and which of them the filters by a commit and by a pull request find. */
async function found(...sourceIds: string[]) {
  const sessions: Record<string, string[]> = {};
  for (const sourceId of sourceIds) {
    const { commits, pullRequests } = await readEvidence(userId, (await stored(sourceId))?.id ?? "");
    sessions[sourceId] = [...commits.map(({ hash }) => hash), ...pullRequests.map(({ number }) => `#${number}`)];
  }
  return sessions;
}
const filtered = async (filter: { commit: string } | { pr: string }) => {
  const { traces } = await listTraces(userId, filter, { limit: 10 });
  return traces.map(({ sourceId }) => sourceId);
};
const remove = async (sourceId: string) => {
  await deleteTrace(userId, (await stored(sourceId))?.id ?? "", operator);
  await accountTraces(30);
};

test("a commit that was copied counts in the original as long as that is there, and else in one of its copies", async () => {
  await sync("fork", [...marked, ...own]);
  expect(await found("fork")).toEqual({ fork: ["abc1234", "def5678", "#12"] });
  await sync("original", lines);
  await sync("second", marked);
  const together = { fork: ["def5678"], original: ["abc1234", "#12"], second: [] };
  expect(await found("fork", "original", "second")).toEqual(together);
  expect(await filtered({ commit: "abc1234" })).toEqual(["original"]);
  expect(await filtered({ pr: "12" })).toEqual(["original"]);
  await remove("original");
  expect(
    Object.values(await found("fork", "second"))
      .flat()
      .toSorted(),
  ).toEqual(["#12", "abc1234", "def5678"]);
  await sync("original", lines);
  await remove("fork");
  expect(await found("second")).toEqual({ second: ["abc1234", "#12"] });
});

test("a commit that two machines' sessions have counts once, whichever comes first, also by an abbreviation of its hash", async () => {
  const full = "abc1234abc1234abc1234abc1234abc1234abc12";
  const whole = { commits: [{ hash: full, position: 1 }] };
  for (const order of [
    ["one", "other"],
    ["other", "one"],
  ] as const) {
    for (const sourceId of order) await sync(sourceId, lines, sourceId === "one" ? whole : {});
    expect(Object.values(await found("one", "other")).flat()).toHaveLength(2);
    expect(await filtered({ commit: "abc1234" })).toHaveLength(1);
    expect((await readPullRequest(userId, { repository: "ada/api", number: 12 })).sessionCount).toBe(1);
    await clearTraces();
    await pool().query("delete from trace_commit");
    await pool().query("delete from trace_pull_request");
  }
});

test("two commits whose hashes begin alike, and links to a pull request of each session's own, all count", async () => {
  await sync("one", lines);
  await sync("other", [
    ...ran(0, "git commit -m z", "[topic abc1234] Another"),
    { position: 2, content: "", metadata: { type: "pr-link", prUrl: url } },
  ]);
  expect(await found("one", "other")).toEqual({ one: ["abc1234", "#12"], other: ["abc1234", "#12"] });
});

test("of the links of any number of sessions to a pull request only those are read that count and should not, or the other way round", async () => {
  const link = (at: number) => ({ position: at, content: "", metadata: { type: "pr-link", prUrl: url } });
  await sync("one", lines);
  await sync("copy", marked);
  for (const sourceId of ["two", "three"]) await sync(sourceId, [link(0)]);
  const turned = () => transaction((tx) => readTurnedPullRequests(tx, userId, [url, url]));
  expect(await turned()).toEqual([]);
  const ids = await Promise.all(["copy", "three"].map(async (sourceId) => (await stored(sourceId))?.id));
  await pool().query("update trace_pull_request set counted = not counted where trace_id = any($1)", [ids]);
  expect((await turned()).map(({ traceId }) => traceId).toSorted()).toEqual(ids.toSorted());
});

test("the commit at which sessions began is of each of them", async () => {
  for (const sourceId of ["one", "other"]) await sync(sourceId, [], { git: { commit_hash: "abc1234" } });
  expect(await found("one", "other")).toEqual({ one: ["abc1234"], other: ["abc1234"] });
});
