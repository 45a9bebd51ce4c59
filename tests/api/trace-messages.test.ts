import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { until } from "../faults/wait.ts";
import { isLong } from "../support/long.ts";
import { get, ingest, provideOwnedServer } from "../support/server.ts";
import { expectProblem } from "./client.ts";

const { server, token } = await provideOwnedServer();

type MessagesJson = { ok: true; messages: { position: number; content: string }[]; nextAfter: number | null };

const createdAt = "2026-11-01T00:00:00.000Z";

async function findId(source: string): Promise<string> {
  const { traces } = await (await get(server, `/api/traces?source=${source}`, token)).json();
  return traces[0]?.id ?? expect.fail(`there is no trace of ${source}`);
}

describe("a trace's messages", () => {
  let id: string;
  beforeAll(async () => {
    const messages = Array.from({ length: 250 }, (_, n) => ({ position: 1000 - 4 * n, content: `message ${n}` }));
    await ingest(server, token, [{ source: "pages", sourceId: "pages", messages, createdAt }]);
    id = await findId("pages");
  });
  const read = async (query: string) =>
    (await (await get(server, `/api/traces/${id}/messages${query}`, token)).json()) as MessagesJson;

  test("have the contract's fields, in the order of their positions, with 100 a page by default", async () => {
    const page = await read("");
    expect(page).toEqual({ ok: true, messages: expect.any(Array), nextAfter: 4 + 4 * 99 });
    expect(page.messages).toHaveLength(100);
    expect(page.messages[0]).toEqual({
      position: 4,
      role: null,
      content: "message 249",
      tokenCount: null,
      createdAt: null,
      metadata: null,
    });
  });

  test("are each on exactly one page", async () => {
    const positions: number[] = [];
    let after: number | null = null;
    for (let pages = 0; pages < 20; pages++) {
      const page: MessagesJson = await read(`?limit=30${after === null ? "" : `&after=${after}`}`);
      positions.push(...page.messages.map(({ position }) => position));
      after = page.nextAfter;
      if (after === null) break;
    }
    expect(positions).toEqual(Array.from({ length: 250 }, (_, n) => 4 + 4 * n));
  });

  test("after any position are those that follow it", async () => {
    expect((await read("?after=5&limit=1")).messages[0]?.position).toBe(8);
    expect(await read("?after=1000")).toEqual({ ok: true, messages: [], nextAfter: null });
    expect(await read("?after=2147483647")).toEqual({ ok: true, messages: [], nextAfter: null });
    expect(await read("?limit=1000")).toMatchObject({ nextAfter: null });
  });

  test.each(["limit=0", "limit=1001", "after=-1", "after=2147483648", "after=x", "after=1&after=2"])(
    "refuse ?%s",
    async (query) => {
      await expectProblem(await get(server, `/api/traces/${id}/messages?${query}`, token), 400, "invalid_request");
    },
  );
});

test("a message that is too large to be held at once comes whole, and so do those around it", async () => {
  // Characters of one to four bytes, escapes, and a length that is none of the pieces'.
  const text = (bytes: number) => 'a "ß" \\u0041 \u4e2d\u{1f600}\n\t`'.repeat(bytes / 25);
  const long = {
    content: `\ufeff${text(isLong ? 9_000_000 : 5_500_000)}`,
    metadata: { long: text(isLong ? 7_000_000 : 3_500_000), n: 1.5, ticks: "```" },
  };
  const messages = [
    { position: 1, content: "before" },
    { position: 2, role: "user", ...long },
    { position: 3, content: text(1_200_000), createdAt },
    { position: 4, content: "after", tokenCount: 3 },
  ];
  await ingest(server, token, [{ source: "long", sourceId: "long", messages }]);
  const id = await findId("long");
  /** Not `toEqual`: the difference of two such texts takes minutes. */
  const expectSame = (one: unknown, other: unknown) => expect(isDeepStrictEqual(one, other)).toBe(true);
  const read = async (query: string) => await (await get(server, `/api/traces/${id}/messages${query}`, token)).json();
  const all = messages.map((one) => ({ role: null, tokenCount: null, createdAt: null, metadata: null, ...one }));
  expectSame(await read("?limit=1&after=1"), { ok: true, messages: all.slice(1, 2), nextAfter: 2 });
  expectSame(await read("?after=0"), { ok: true, messages: all.slice(0, 1), nextAfter: 1 });
  expectSame(await read("?after=2"), { ok: true, messages: all.slice(2), nextAfter: null });
  const exported = await (await get(server, `/api/traces/${id}/export.json`, token)).json();
  expectSame(exported.messages, messages);
  expect(await ingest(server, token, [exported])).toMatchObject({ traces: { unchanged: 1 }, messages: { written: 0 } });
  const markdown = await (await get(server, `/api/traces/${id}/export.md`, token)).text();
  expect(markdown.includes(`\n## user · #2\n\n${long.content}\n`)).toBe(true);
  const [, json = ""] = /\n```json\n(.*)\n```\n\n## /.exec(markdown) ?? [];
  expectSame(JSON.parse(json), long.metadata);
});

test("a trace's growth and matches are counted for its owner, and missing once it is deleted", async () => {
  const messages = [0, 4, 8].map((position) => ({ position, content: `Retry ${position}` }));
  await ingest(server, token, [{ source: "growing", sourceId: "growing", messages }]);
  const id = await findId("growing");
  const growth = () => get(server, `/api/traces/${id}/growth?after=3`, token);
  const matches = () => get(server, `/api/traces/${id}/matches?q=retry`, token);
  expect(await (await growth()).json()).toEqual({ ok: true, messages: 2, live: expect.any(Boolean), waiting: null });
  const places = [0, 4, 8].map((position) => [position, 1]);
  expect(await (await matches()).json()).toEqual({ ok: true, total: 3, messages: 3, places });
  await pool().query("update trace set deleted_at = now() where id = $1", [id]);
  for (const ask of [growth, matches]) await expectProblem(await ask(), 404, "not_found");
});

test("a trace's growth is pushed as server-sent events, as soon as messages are stored", async () => {
  const messages = [0, 1].map((position) => ({ position, content: `Part ${position}` }));
  await ingest(server, token, [{ source: "pushed", sourceId: "pushed", messages: messages.slice(0, 1) }]);
  const id = await findId("pushed");
  const gone = new AbortController();
  const response = await fetch(`${server.url}/api/traces/${id}/growth?after=0`, {
    headers: { Authorization: `Bearer ${token}`, Accept: "text/event-stream" },
    signal: gone.signal,
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let told = "";
  const next = async () => {
    while (!/data: .*\n\n$/.test(told)) told += (await reader?.read())?.value ?? "";
    const [, json = ""] = /data: (.*)\n\n$/.exec(told) ?? [];
    told = "";
    return JSON.parse(json);
  };
  expect(await next()).toEqual({ messages: 0, live: expect.any(Boolean), waiting: null });
  await ingest(server, token, [{ source: "pushed", sourceId: "pushed", messages }]);
  expect(await next()).toMatchObject({ messages: 1 });
  gone.abort();
});

describe("the files that traces touched", () => {
  const edit = (position: number, path: string) => ({
    ...{ position, role: "assistant", content: "done" },
    metadata: {
      tool: { name: "Edit", callId: `${position}`, input: { file_path: path, old_string: "a", new_string: "b" } },
    },
  });

  test("are told of a trace and by their path, and searched for, while a stranger's token learns nothing", async () => {
    const metadata = { cwd: "/home/ada/api" };
    const messages = [edit(0, "/home/ada/api/src/X.ts"), edit(1, "src/X.ts"), edit(2, "y.ts")];
    await ingest(server, token, [{ source: "files", sourceId: "files", title: "Files", metadata, messages }]);
    const id = await findId("files");
    // The server may be at it at the same moment, which leaves it to the server.
    await until(30, "the session is accounted for", async () => {
      await accountTraces(30);
      return !(await (await get(server, `/api/traces/${id}/files`, token)).json()).pending;
    });
    const file = { path: "src/X.ts", reads: 0, edits: 2, added: 2, removed: 2, firstPosition: 0, lastPosition: 1 };
    const read = async (path: string) => (await get(server, path, token)).json();
    expect(await read(`/api/traces/${id}/files?limit=1`)).toEqual({
      ...{ ok: true, files: [file], pending: false, cut: false, nextCursor: expect.any(String) },
    });
    const found = await read("/api/files?path=src/x.ts&action=changed");
    expect(found).toEqual({
      ...{ ok: true, nextCursor: null },
      files: [
        {
          traceId: id,
          source: "files",
          title: "Files",
          project: null,
          updatedAt: expect.any(String),
          dated: false,
          ...file,
        },
      ],
    });
    expect((await read("/api/traces?q=file:x.ts")).traces).toMatchObject([
      { id, filesChanged: 2, linesAdded: 3, linesRemoved: 3 },
    ]);
    const exported = await (await get(server, "/api/traces/export?q=file:x.ts", token)).text();
    expect(
      exported
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).sourceId),
    ).toEqual(["files"]);
    await expectProblem(await get(server, "/api/files?path=x.ts&cursor=bad", token), 400, "invalid_request");
    await expectProblem(await get(server, "/api/files", token), 400, "invalid_request");
    await expectProblem(await get(server, "/api/files?path=x.ts"), 401, "missing_token");
    const missing = `/api/traces/019a9c3e-5b8f-7a10-8c44-92d5e1f06a3b/files`;
    await expectProblem(await get(server, missing, token), 404, "not_found");
  });
});
