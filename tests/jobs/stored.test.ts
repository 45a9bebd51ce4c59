import { describe, expect, test } from "vitest";
import { readMessages } from "#lib/messages/read-messages";
import { listTraces } from "#lib/traces/queries";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { acceptText, run, send, stored } = getUploads(userId);

describe("what is stored", () => {
  test("every field is read back as sent", async () => {
    const sent = [
      {
        position: 7,
        role: "assistant",
        content: "later\r\n\t\\N \u{1f600}",
        tokenCount: 3,
        createdAt: "2026-11-01T10:00:00.123+02:00",
        metadata: { a: { b: [1, null] } },
      },
      { position: 2, content: "" },
    ];
    await send({
      source: "codex-cli",
      sourceId: "fields",
      model: "m",
      title: "t",
      project: "p",
      createdAt: "2026-11-01T08:00:00Z",
      metadata: { x: 1 },
      cwd: "/tmp",
      messages: sent,
    });
    const { traces } = await listTraces(userId, { source: "codex-cli", project: "p" }, { limit: 10 });
    expect(traces).toMatchObject([
      {
        model: "m",
        title: "t",
        createdAt: "2026-11-01T08:00:00.000Z",
        updatedAt: "2026-11-01T08:00:00.123Z",
        messageCount: 2,
        tokenCount: 3,
        metadata: { x: 1, cwd: "/tmp" },
      },
    ]);
    const { messages: read } = await readMessages(userId, traces[0]?.id ?? "", -1, { limit: 10 });
    expect(read).toEqual([
      { position: 2, role: null, content: "", tokenCount: null, createdAt: null, metadata: null },
      {
        position: 7,
        role: "assistant",
        content: "later\r\n\t\\N \u{1f600}",
        tokenCount: 3,
        createdAt: "2026-11-01T08:00:00.123Z",
        metadata: { a: { b: [1, null] } },
      },
    ]);
  });

  test("characters that PostgreSQL cannot store become U+FFFD and the trace is flagged", async () => {
    await send({
      sourceId: "nul",
      title: "a\0b",
      messages: [{ position: 0, content: "\ud800 \0", metadata: { "k\0": ["\udfff"] } }],
    });
    expect(await stored("nul")).toMatchObject({ title: "a\ufffdb", sanitized: true, contents: ["\ufffd \ufffd"] });
  });

  test("a `__proto__` key is dropped and no prototype changes", async () => {
    const body = `{"traces":[{"sourceId":"proto","messages":[],"metadata":{"__proto__":{"polluted":1},"x":1},"__proto__":{"polluted":1}}]}`;
    await run(await acceptText(body));
    expect((await stored("proto"))?.metadata).toEqual({ x: 1 });
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("a title falls back to the first line of the first user message", async () => {
    await send({
      sourceId: "untitled",
      messages: [
        { position: 0, role: "assistant", content: "hi" },
        { position: 1, role: "user", content: "\n  Fix it\nplease" },
      ],
    });
    expect(await stored("untitled")).toMatchObject({ title: "Fix it" });
  });

  test("a title skips commands' echoes to the first line that a person wrote, if there is one", async () => {
    const echo = "<command-name>/clear</command-name>\n<command-message>clear</command-message>";
    const user = (position: number, content: string) => ({ position, role: "user", content });
    await send({
      sourceId: "echoes",
      messages: [user(0, echo), user(1, "[Request interrupted by user]"), user(2, "Fix")],
    });
    expect(await stored("echoes")).toMatchObject({ title: "Fix" });
    await send({ sourceId: "only-echoes", messages: [user(0, "[Request interrupted by user]"), user(1, echo)] });
    expect(await stored("only-echoes")).toMatchObject({ title: "/clear" });
  });

  test("an empty batch is valid", async () => {
    expect(await send()).toMatchObject({ status: "succeeded", traces: { received: 0 }, messages: { written: 0 } });
  });
});
