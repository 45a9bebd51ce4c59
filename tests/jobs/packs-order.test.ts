import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { listTraces } from "#lib/traces/queries";
import { isLong } from "../support/long.ts";
import { provideOwner } from "../support/server.ts";
import { count, pack } from "./packing.ts";
import { clearTraces, indexAll } from "./searching.ts";
import { uploadsOf } from "./uploads.ts";

const { userId } = await provideOwner();
const { send } = uploadsOf(userId);
afterEach(clearTraces);

/** Letters that no compression makes much shorter. */
const noise = (chars: number) =>
  Array.from({ length: Math.ceil(chars / 64) }, (_, n) => createHash("sha256").update(`${n}`).digest("hex"))
    .join("")
    .slice(0, chars);
const said = (role: string, content: string, metadata?: Record<string, unknown>) => ({
  role,
  content,
  ...(metadata && { metadata }),
});
const session = (sourceId: string, messages: object[]) => ({
  ...{ sourceId, source: "claude-code", title: `Session ${sourceId}` },
  messages: messages.map((message, position) => ({ position, ...message })),
});
const many = (count: number, message: (n: number) => object) => Array.from({ length: count }, (_, n) => message(n));
/** A failed call: without its metadata it is what the assistant said. */
const failed = (text: string) => said("assistant", "log: full", { tool: { name: "Bash", isError: true }, text });

/** Sessions whose messages are told apart by what is read of them, by how much, and by where it ends. */
const sessions = [
  session("within words", [
    ...many(260, (n) => said("assistant", `page ${n} of the catalogs`)),
    said("user", "the log is full"),
  ]),
  session("whole word", [said("assistant", "the log is full, it says, and so it is")]),
  session("late", [
    ...many(25, () => said("tool", `log ${"😀 ".repeat(9000)}`)),
    said("user", "the log of the disk is full"),
  ]),
  session("metadata", [failed(noise(40_000))]),
  session("more metadata", [failed(noise(90_000))]),
  session("repeated metadata", [failed("ab".repeat(90_000))]),
  session("numbers", [
    { ...failed(""), metadata: { tool: { name: "Bash", isError: true }, all: many(6000, () => ({})) } },
  ]),
  session("long", [said("user", `${"word ".repeat(250_000)}a catalog`), said("assistant", "a full log")]),
  session("long in the middle", [said("user", `${"é ".repeat(60_000)}the log is full ${"😀 ".repeat(60_000)}`)]),
  session("decomposed", [said("user", "le journal e\u0301tait plein, full log"), said("assistant", "FULL LOG ÉTÉ")]),
];
const someQueries = ["full log", '"log is full"', "failed log", "log has:error"];
const queries = [...someQueries, "log", "log full disk", "été", "log tool:bash", "catalog"];

async function readBest() {
  const found: unknown[] = [];
  for (const q of isLong ? queries : someQueries) {
    const { traces } = await listTraces(userId, { q }, { limit: 50, order: "best" });
    found.push([q, traces.map(({ sourceId, ...one }) => [sourceId, "matches" in one ? one.matches : null])]);
  }
  return found;
}

describe("the best matches", () => {
  test("are the same whether their sessions are packed, or some of them, and indexed anew", {
    timeout: 60_000,
  }, async () => {
    await send(...sessions);
    await indexAll();
    const before = await readBest();
    expect(await pack()).toBe(sessions.length);
    expect(await count("message")).toBe(0);
    expect(await readBest()).toEqual(before);
    await send(
      session("whole word", [said("assistant", "the log is full, it says, and so it is"), said("user", "ok")]),
    );
    await indexAll();
    await pool().query("delete from search_block");
    await pool().query("update trace set search_pending = true");
    await indexAll();
    const mixed = await readBest();
    await pack();
    expect(await readBest()).toEqual(mixed);
  });
});
