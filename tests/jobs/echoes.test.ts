import { beforeAll, expect, test } from "vitest";
import { answerCall } from "#lib/mcp/server";
import { recall } from "#lib/mcp/tools/fix";
import { listTraces } from "#lib/traces/queries";
import { provideOwner } from "../support/server.ts";
import { indexAll } from "./searching.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const { send, stored } = getUploads(userId);

const error = "ZephyrLockError: lease token mismatch for shard";

async function ask(name: string, given: object): Promise<string> {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const request = new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await answerCall(request, body, { userId, projectId: null });
  const text = await answer.text();
  return JSON.parse(text.replace(/^[^{]*/, "")).result.content[0].text;
}

const numbered = (...messages: object[]) =>
  messages.map((message, position) => ({ position, createdAt: `2026-03-0${position + 1}T10:00:00.000Z`, ...message }));
const called = (name: string, input: object, content = JSON.stringify(input)) => ({
  ...{ role: "assistant", content: `${name}\n${content}` },
  metadata: { tool: { name, callId: "c1", input, content: "call" } },
});
const resulted = (content: string) => ({ role: "tool", content, metadata: { result: { callId: "c1" } } });

/** A session that asked Spoor, as its agent recorded that, and said nothing of its own about the error. */
const asking = (sourceId: string, ...exchange: object[]) => ({
  sourceId,
  messages: numbered({ role: "user", content: "Have we seen this before?" }, ...exchange),
});

beforeAll(async () => {
  await send({
    sourceId: "solved",
    title: "Mend the lease",
    messages: numbered(
      { role: "user", content: "The job stops." },
      called("Bash", { command: "npm test" }),
      resulted(error),
      { role: "assistant", content: "Solved: the token is read again after the lock." },
    ),
  });
  await indexAll();
  const answer = await ask("find_past_fix", { error });
  expect(answer).toContain(error);
  const id = (await stored("solved"))?.id;
  const printed = `Mend the lease  2026-03-02\n  ${error}\n  → Solved\n  http://localhost/traces/${id}?at=2`;
  await send(
    asking("claude", called("mcp__spoor__find_past_fix", { error }), resulted(answer)),
    asking("copilot", called("spoor-search_sessions", { query: error }), resulted(answer)),
    asking(
      "opencode",
      called("spoor_find_past_fix", { error }),
      resulted(JSON.stringify([{ type: "text", text: answer }])),
    ),
    asking(
      "cline",
      called("use_mcp_tool", { server_name: "spoor", tool_name: "find_past_fix", arguments: { error } }),
      resulted(answer),
    ),
    asking(
      "codex",
      called("exec", { script: `await tools.mcp__spoor__find_past_fix({ error: "${error}" })` }),
      resulted(JSON.stringify(JSON.stringify(answer))),
    ),
    asking("command", called("Bash", { command: `npx spoor recall "${error}"` }), resulted(printed)),
    asking("one", {
      role: "assistant",
      content: "",
      metadata: { tool: { name: "find_past_fix", input: { error }, output: answer } },
    }),
    asking("spoken", called("mcp__spoor__find_past_fix", { error }), resulted(answer), {
      role: "assistant",
      content: `It was ${error}, and a stale token.`,
    }),
  );
  await indexAll();
});

test("what Spoor answered an agent is found as evidence by no tool, no search and no recall", async () => {
  const found = async (q: string) => {
    const { traces } = await listTraces(userId, { q }, { limit: 20, order: "best" });
    return traces.map(({ sourceId }) => sourceId).toSorted();
  };
  expect(await found("ZephyrLockError")).toEqual(["solved", "spoken"]);
  expect(await found(`"lease token mismatch for shard"`)).toEqual(["solved", "spoken"]);
  expect(await found("zephyr* lease mismatch role:assistant")).not.toContain("claude");
  const { places } = await recall(userId, { error, project: undefined });
  expect(places.map(({ session }) => session).toSorted()).toEqual(
    [(await stored("solved"))?.id, (await stored("spoken"))?.id].toSorted(),
  );
  const asked = await ask("search_sessions", { query: "ZephyrLockError lease" });
  expect(asked).toContain("2 on this page");
});

test("what was said about it is the place that is shown, not the answer", async () => {
  const { traces } = await listTraces(userId, { q: "ZephyrLockError" }, { limit: 20, order: "best" });
  const spoken = traces.find(({ sourceId }) => sourceId === "spoken");
  expect(spoken?.matches?.map(({ position }) => position)).toEqual([3]);
});

test("the tool is found as a tool still", async () => {
  const { traces } = await listTraces(userId, { q: "tool:mcp__spoor__find_past_fix" }, { limit: 20 });
  expect(traces.map(({ sourceId }) => sourceId).toSorted()).toEqual(["claude", "spoken"]);
});

test("files and commands that only speak of the tools are found", async () => {
  await send({
    sourceId: "source",
    messages: numbered(
      called("Write", { file_path: "a.md", content: "Ask mcp__spoor__find_past_fix about quokkafact." }),
      called("Bash", { command: "grep -rn find_past_fix docs # quokkagrep" }),
      resulted("docs/mcp.md: `find_past_fix` quokkaresult"),
    ),
  });
  await indexAll();
  for (const q of ["quokkafact", "quokkagrep", "quokkaresult"])
    expect((await listTraces(userId, { q }, { limit: 5 })).traces.map(({ sourceId }) => sourceId)).toEqual(["source"]);
});
