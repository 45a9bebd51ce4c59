import { afterEach, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { deleteTrace } from "#lib/traces/deletion";
import { readEvidence } from "#lib/traces/evidence";
import { purgeDeleted } from "#lib/traces/purge";
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

type Given = { content: string; metadata?: Record<string, unknown>; role?: string };

const call = (command: string, callId = command): Given => ({
  content: command,
  metadata: { tool: { name: "Bash", callId, input: { command }, content: "call" } },
});
const result = (content: string, callId: string): Given => ({ content, metadata: { result: { callId } } });
const ran = (command: string, output: string) => [call(command), result(output, command)];
const commit = (hash: string, subject: string) => ran(`git commit -m ${hash}`, `[topic ${hash}] ${subject}`);

const url = "https://github.com/ada/api/pull/12";

/** Sends a session as it stands by now. */
const sync = async (messages: Given[], fields: Record<string, unknown> = {}, sourceId = "one") => {
  await send({ sourceId, messages: messages.map((message, position) => ({ position, ...message })), ...fields });
  await accountTraces(30);
};

/** What came of it: hashes, branches and addresses, each with its evidence and position. */
async function found(sourceId = "one") {
  const id = (await stored(sourceId))?.id ?? "";
  const { branches, commits, pullRequests } = await readEvidence(userId, id);
  const proof = ({ evidence, position }: { evidence: string; position: number | null }) =>
    position === null ? evidence : `${evidence}@${position}`;
  return {
    branches: branches.map((one) => `${one.branch} ${proof(one)}`),
    commits: commits.map((one) => [one.hash, one.subject, one.repository, proof(one)].filter(Boolean).join(" ")),
    pullRequests: pullRequests.map((one) => `${one.url} ${proof(one)}`),
  };
}

const countRows = async () => {
  const { rows } = await pool().query(
    `select (select count(*) from trace_branch) + (select count(*) from trace_commit)
       + (select count(*) from trace_pull_request) as rows`,
  );
  return Number(rows[0]?.rows);
};

const full = "abc1234abc1234abc1234abc1234abc1234abc12";
const whole: Given[] = [
  { content: "Mend it", role: "user", metadata: { branch: "main" } },
  ...commit("abc1234", "Mend"),
  ...commit("abc1234a", "Again"),
  { content: "Now the rest", role: "user" },
  ...commit("def5678", "The rest"),
  ...ran("git push", "To github.com:ada/api.git\n   0000000..abc1234  topic -> topic"),
  ...ran("gh pr create --fill", `${url}\n`),
];
const metadata = { branch: "main", commits: [{ hash: full, position: 2 }], pullRequests: [{ number: 12, url }] };
const all = {
  branches: ["main message@0", "topic git-commit@2"],
  commits: [`${full} Mend github.com:ada/api.git git-commit@2`, "def5678 The rest git-commit@7"],
  pullRequests: [`${url} gh-pr-create@11`],
};

test("a session that is sent whole has a row for each branch, commit and pull request", async () => {
  await sync(whole, { metadata });
  expect(await found()).toEqual(all);
});

test("a session that grows message by message comes to the same, also where a call waits for its result", async () => {
  for (let count = 1; count <= whole.length; count += 1)
    await sync(whole.slice(0, count), count < whole.length ? {} : { metadata });
  expect(await found()).toEqual(all);
});

test("a session that is appended to comes to the same", async () => {
  await sync(whole.slice(0, 2), { metadata: { pullRequests: [{ url }] } });
  expect((await found()).pullRequests).toEqual([`${url} pr-link`]);
  const rest = whole.slice(2).map((message, at) => ({ position: at + 2, ...message }));
  await send({ sourceId: "one", append: { count: 2 }, messages: rest, metadata });
  await accountTraces(30);
  expect(await found()).toEqual(all);
});

test("what a session's new messages prove replaces what its earlier ones did", async () => {
  await sync(whole, { metadata });
  const rewritten = [...whole.slice(0, 1), ...ran("git commit", "[next 0123abc] Anew"), ...whole.slice(3, 5)];
  await sync(rewritten, { replace: true, metadata: {} });
  expect(await found()).toEqual({
    branches: ["main message@0", "next git-commit@2", "topic git-commit@4"],
    commits: ["0123abc Anew git-commit@2", "abc1234a Again git-commit@4"],
    pullRequests: [],
  });
});

test("a session that only grew writes its new rows alone", async () => {
  await sync(whole.slice(0, 3));
  const { rows } = await pool().query("select xmin::text, hash from trace_commit");
  await sync(whole.slice(0, 8));
  const after = await pool().query("select xmin::text, hash from trace_commit order by hash");
  expect(after.rows.filter(({ hash }) => hash === "def5678")).toHaveLength(1);
  await sync([...whole.slice(0, 8), { content: "Thanks", role: "user" }]);
  expect((await pool().query("select xmin::text, hash from trace_commit order by hash")).rows).toEqual(after.rows);
  expect(rows).toHaveLength(1);
});

test("a deleted session leaves no row", async () => {
  await sync(whole, { metadata });
  await sync(whole.slice(0, 3), {}, "other");
  await deleteTrace(userId, (await stored("one"))?.id ?? "", operator);
  await purgeDeleted(30);
  await accountTraces(30);
  expect(await countRows()).toBe(3);
  expect((await found("other")).commits).toEqual(["abc1234 Mend git-commit@2"]);
});

test("hostile values are cleaned, bounded or left out", async () => {
  const many = Array.from({ length: 600 }, (_, at) => ({ hash: (0xabc_0000_0000 + at).toString(16) }));
  await sync(
    [
      { content: "x", metadata: { branch: "to\u202epic\u0000 " } },
      { content: "y", metadata: { branch: 7 } },
    ],
    {
      metadata: {
        branch: "b".repeat(5000),
        commits: [{ hash: "g".repeat(40) }, { hash: "abcdef0", position: 2 ** 40, subject: ["x"] }, ...many],
        pullRequests: [{ url: "https://github.com/a/b/pull/2147483648" }, { url: `${url}?x=' or 1=1 --` }, null],
      },
    },
  );
  const { branches, commits, pullRequests } = await found();
  expect(branches[0]).toMatch(/^topic/);
  expect([branches.length, commits.length]).toEqual([2, 499]);
  expect(pullRequests).toEqual([`${url} pr-link`]);
});
