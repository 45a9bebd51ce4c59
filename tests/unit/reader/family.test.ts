import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Family, FamilySums } from "#lib/traces/family";
import { makeRows } from "#lib/transcript/rows";
import { FamilyFacts } from "../../../app/(app)/traces/[id]/facts/family.tsx";
import { drawMessages } from "../../../app/(app)/traces/[id]/messages/messages.tsx";
import { message } from "./rendering.ts";

const started = [
  message({
    position: 1,
    role: "assistant",
    metadata: { tool: { name: "Task", callId: "c", input: { description: "Look", prompt: "Look for it" } } },
  }),
  message({ position: 2, role: "tool", content: "Found", metadata: { result: { callId: "c", session: "s/agent-a" } } }),
];

test("a sub-agent's row leads to its own session, and nowhere for others", async () => {
  const sessions = { "s/agent-a": { href: "/traces/7", text: "Its session · 3 messages" } };
  const view = { whose: { traceId: "1" }, zone: "UTC" };
  const html = await drawMessages(makeRows(started), { ...view, sessions }, false);
  expect(html).toContain('<p class="started"><a href="/traces/7">Its session · 3 messages</a></p>');
  expect(await drawMessages(makeRows(started), view, false)).not.toContain("started");
  const named = [{ ...started[1], metadata: { result: { callId: "c", session: "constructor" } } } as never];
  expect(await drawMessages(makeRows(named), { ...view, sessions }, false)).not.toContain("started");
});

test("what came from a session is listed with its sums, the session's own included", () => {
  const own: FamilySums = {
    messages: 10,
    tokens: 1000,
    costNano: 1_000_000_000,
    unpricedTokens: 0,
    tierNotPricedTokens: 0,
    seconds: 60,
  };
  const member = {
    id: "2",
    position: 4,
    source: "codex",
    title: "Look",
    model: null,
    createdAt: null,
    updatedAt: "",
    dated: true,
    below: 1,
  };
  const family: Family = {
    counts: { subagent: 1, fork: 0, continuation: 1 },
    below: 3,
    isCut: false,
    sums: { messages: 5, tokens: 200, costNano: 500_000_000, unpricedTokens: 3, tierNotPricedTokens: 12, seconds: 120 },
    members: [
      { ...member, relation: "subagent", own },
      { ...member, id: "3", position: null, title: null, relation: "continuation", own, below: 0 },
    ],
  };
  const html = renderToStaticMarkup(FamilyFacts({ traceId: "1", own, family }));
  const text = html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");
  expect(text).toContain("Continued in an untitled session");
  expect(text).toContain("1 sub-agent, 1 continuation · 1 more below");
  expect(text).toContain("15 messages · 1.2K tokens · $1.50 + unpriced · tier not priced · 3 min");
  expect(html.split('title="12 tokens: tier not priced"')).toHaveLength(2); // the sum's cell alone
  expect(html).toContain('href="/traces/1?at=4"');
  expect(html).toContain('href="/traces/2"');
});
