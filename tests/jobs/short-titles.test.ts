import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { requestReaccounting } from "#lib/ledger/version";
import { findByTitle } from "#lib/search/suggest";
import { getTrace } from "#lib/traces/queries";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = getUploads(userId);

type Fields = Record<string, unknown>;
const placed = (messages: Fields[], from = 0) => messages.map((one, index) => ({ ...one, position: from + index }));
const said = (content: string) => ({ role: "user", content });
const commit = (callId: string, subject: string, replayed = false) => [
  {
    ...{ role: "assistant", content: "Bash" },
    metadata: { replayed, tool: { name: "Bash", callId, input: { command: "git commit -am x" }, content: "call" } },
  },
  {
    ...{ role: "tool", content: `[main ${callId}abc12] ${subject}\n 1 file changed` },
    metadata: { replayed, result: { callId } },
  },
];

async function readTitles(sourceId: string) {
  await accountTraces(60);
  const { rows } = await pool().query("select id from trace where user_id = $1 and source_id = $2", [userId, sourceId]);
  const { title, shortTitle } = await getTrace(userId, rows[0].id);
  return { title, shortTitle };
}

test("a session is shown with a short title, and keeps the one that was sent", async () => {
  const title = "can you **mend** the timer of the uploader? It piles up and nobody sees what is going on in there";
  await send({ sourceId: "sent", title, messages: placed([said("go")]) });
  expect(await readTitles("sent")).toEqual({
    title,
    shortTitle: "Mend the timer of the uploader. It piles up and nobody sees what…",
  });
  for (const words of [["going", "there"], ["Mend the timer"]]) {
    expect(await findByTitle(userId, words)).toMatchObject([
      { title: "Mend the timer of the uploader. It piles up and nobody sees what…" },
    ]);
  }
});

test("the only commit names a session that has no title, however it grew", async () => {
  await send({
    sourceId: "whole",
    messages: placed([said("address 21 and 26"), ...commit("a1", "Mend the timer of uploads")]),
  });
  expect((await readTitles("whole")).shortTitle).toBe("Mend the timer of uploads");

  await send({ sourceId: "grown", messages: placed([said("address 31 and 45")]) });
  expect((await readTitles("grown")).shortTitle).toBe("Address 31 and 45");
  const grow = (count: number, messages: Fields[]) =>
    send({ sourceId: "grown", append: { count }, messages: placed(messages, count) });
  await grow(1, commit("b1", "Keep the order of the queue"));
  expect((await readTitles("grown")).shortTitle).toBe("Keep the order of the queue");
  await grow(3, commit("b2", "Count what was sent twice"));
  expect((await readTitles("grown")).shortTitle).toBe("Address 31 and 45");
});

test("a commit that was copied, or that the agent's own title comes before, names no session", async () => {
  const copied = placed([said("read the log"), ...commit("c1", "Mend the timer of downloads", true)]);
  await send({ sourceId: "copied", messages: copied });
  expect((await readTitles("copied")).shortTitle).toBe("Read the log");
  const named = placed([said("read the log"), ...commit("d1", "Mend the timer of copies")]);
  await send({ sourceId: "named", title: "Timer of copies", messages: named });
  expect((await readTitles("named")).shortTitle).toBe("Timer of copies");
});

test("sessions of earlier versions get a short title, and a secret in a sent one is masked before it is cut", async () => {
  const key = ["ghp", "_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("");
  await pool().query("insert into secret_policy (user_id, masks) values ($1, false)", [userId]);
  await send({
    sourceId: "old",
    title: `Deploy all of the services with this new key ${key}`,
    messages: placed([said("go")]),
  });
  await accountTraces(60);
  await pool().query("update trace set short_title = null where user_id = $1", [userId]);
  await requestReaccounting();
  const { shortTitle } = await readTitles("old");
  expect(shortTitle).toMatch(/^Deploy all of the services with this new key/);
  expect(shortTitle).not.toContain(key.slice(4, 12));
});
