import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { getProject } from "#lib/projects/queries";
import { answerUsage } from "#lib/usage/answer";
import { usageQuery } from "#lib/usage/schema";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

const at = new Date(Date.now() - 3_600_000).toISOString();
const numbered = (...messages: object[]) =>
  messages.map((message, position) => ({ position, createdAt: at, ...message }));

const prompts = (sourceId: string, ...texts: string[]) => ({
  ...{ source: "claude-code", sourceId, createdAt: at, metadata: { kind: "prompts-only", cwd: "/home/ada/api" } },
  messages: numbered(...texts.map((content) => ({ role: "user", content }))),
});
const whole = (sourceId: string, ...texts: string[]) => ({
  ...{ source: "claude-code", sourceId, createdAt: at, metadata: { cwd: "/home/ada/api" } },
  messages: numbered(...texts.map((content) => ({ role: "assistant", content, tokenCount: 10 }))),
});

async function used() {
  await accountTraces(30);
  const { total } = await answerUsage(userId, usageQuery.parse({ unit: "total" }));
  return { sessions: total.sessions, messages: total.messages };
}

test("what is known by its prompts alone is in no sum, and the session itself replaces it, also a shorter one", async () => {
  await send(prompts("gone", "Mend it", "Now test it", "Thanks"));
  expect(await used()).toEqual({ sessions: 0, messages: 0 });
  const gone = await stored("gone");
  expect(gone?.contents).toEqual(["Mend it", "Now test it", "Thanks"]);
  expect((await getProject(userId, gone?.projectId ?? ""))?.sessions).toBe(0);
  await send(whole("gone", "Done"));
  expect((await stored("gone"))?.contents).toEqual(["Done"]);
  expect(await used()).toEqual({ sessions: 1, messages: 1 });
  expect((await getProject(userId, gone?.projectId ?? ""))?.sessions).toBe(1);
});

test("prompts replace no session, however many they are, and nobody is told of it", async () => {
  await send(whole("kept", "One"));
  const job = await send(prompts("kept", "a", "b", "c"));
  expect(job?.traces).toMatchObject({ unchanged: 1, kept: 0 });
  expect((await stored("kept"))?.contents).toEqual(["One"]);
  const { rows } = await pool().query("select metadata->>'kind' as kind from trace where source_id = 'kept'");
  expect(rows).toEqual([{ kind: null }]);
});

test("further prompts of a session that is gone are added", async () => {
  await send(prompts("more", "a"));
  await send(prompts("more", "a", "b"));
  expect((await stored("more"))?.contents).toEqual(["a", "b"]);
});

test("prompts are never appended to a session", async () => {
  await send(whole("open", "One"));
  const { messages, ...fields } = prompts("open", "One", "more");
  const job = await send({ ...fields, append: { count: 1 }, messages: messages.slice(1) });
  expect(job?.traces).toMatchObject({ incomplete: 1, updated: 0 });
  expect((await stored("open"))?.contents).toEqual(["One"]);
});
