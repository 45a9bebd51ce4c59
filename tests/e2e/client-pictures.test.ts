import { expect, test } from "vitest";
import { linesOf, writeBelow } from "../cli/home.ts";
import { claudeLines } from "../cli/sessions.ts";
import { download, provideClient } from "../support/client.ts";
import { makePng } from "../support/pictures.ts";
import { get, logIn, makeUser, provideServer } from "../support/server.ts";

const server = await provideServer();
const token = await logIn(server, await makeUser());
const client = await provideClient((folder) => download(server.url, folder));

const id = "00000000-0000-4000-8000-000000000001";
const pasted = makePng({ extra: 100_000 });
const returned = makePng();
const blockOf = ({ bytes }: { bytes: Buffer }) => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: bytes.toString("base64") },
});

test("the pictures of an agent's file come to the server with their messages, once", async () => {
  const [first = {}, ...rest] = claudeLines(id, 2) as Record<string, unknown>[];
  const lines = [
    { ...first, message: { role: "user", content: [{ type: "text", text: "Why is it red?" }, blockOf(pasted)] } },
    ...rest.map((line) => withPicture(line)),
  ];
  await writeBelow(client.home, `.claude/projects/-home-ada-code-api/${id}.jsonl`, linesOf(...lines));
  const environment = { SPOOR_URL: server.url, SPOOR_TOKEN: token };
  const pushed = await client.run(["push", "--yes"], environment);
  expect(pushed, pushed.errors).toMatchObject({ code: 0 });
  const { traces } = await (await get(server, "/api/traces", token)).json();
  const traceId = traces[0]?.id;
  const { messages } = await (await get(server, `/api/traces/${traceId}/messages`, token)).json();
  type Named = { sha256: string }[];
  const named = messages.flatMap((one: { metadata: { pictures?: Named } | null }) => one.metadata?.pictures ?? []);
  expect(new Set(named.map(({ sha256 }: Named[number]) => sha256))).toEqual(new Set([pasted.sha256, returned.sha256]));
  for (const { sha256, bytes } of [pasted, returned]) {
    const response = await get(server, `/api/traces/${traceId}/pictures/${sha256}`, token);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
  }
});

/** A line whose tool's result is a picture, where it has one. */
function withPicture(line: Record<string, unknown>): Record<string, unknown> {
  const { content } = (line.message ?? {}) as { content?: unknown };
  if (!Array.isArray(content) || !content.some(({ type }) => type === "tool_result")) return line;
  const blocks = content.map((block) =>
    block.type === "tool_result" ? { ...block, content: [{ type: "text", text: "Here" }, blockOf(returned)] } : block,
  );
  return { ...line, message: { ...(line.message as object), content: blocks } };
}
