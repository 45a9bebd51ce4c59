import { describe, expect, test } from "vitest";
import { mcp } from "../../cli/commands/mcp.ts";
import { recall } from "../../cli/commands/recall.ts";
import { runInside, worldInside } from "./inside.ts";
import { problem } from "./world.ts";

const place = {
  session: "5d0f5c0e-8a53-4b4e-9b0c-0a8b5c7f1e11",
  title: "Mend the timer\u001b[31m",
  source: "claude-code",
  project: "api",
  at: "2026-03-03T14:02:00.000Z",
  link: "https://spoor.example.org/traces/5d0f5c0e?at=88",
  excerpt: `TypeError: timer.unref\n\nis not a function ${"x".repeat(5000)}`,
  said: "Solved.\nOne.\nTwo.\nThree.",
};

describe("recall", () => {
  test("prints the three best past places of an error, each on a few lines", async () => {
    const { fake, host } = await worldInside(0);
    fake.failWith(() => ({ status: 200, body: { ok: true, exact: true, places: [place, { ...place, said: null }] } }));
    const words = ["TypeError: timer.unref", "is not\na function"];
    const { code, output } = await runInside(recall, host, { words, values: { project: "api" } });
    expect(code).toBe(0);
    expect(fake.requests).toEqual(["GET /api/recall?error=TypeError%3A+timer.unref+is+not%0Aa+function&project=api"]);
    const lines = output.trimEnd().split("\n");
    expect(lines).toHaveLength(11);
    expect(lines[0]).toMatch(/^Mend the timer.* {2}2026-03-03 · claude-code · api$/);
    expect(lines.slice(3, 7)).toEqual(["  → Solved.", "  → One.", "  → Two.", `  ${place.link}`]);
    expect(output).not.toContain("\u001b");
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(210);
  });

  test("says where nothing was found, or only something alike, and gives all of it to programs", async () => {
    const { fake, host } = await worldInside(0);
    const answered = async (body: object, values = {}) => {
      fake.failWith(() => ({ status: 200, body: { ok: true, ...body } }));
      return (await runInside(recall, host, { words: ["x"], values })).output;
    };
    expect(await answered({ exact: false, places: [] })).toBe("No session on the server contains this.\n");
    expect(await answered({ exact: false, places: [place] })).toMatch(/^No session contains this line; these/);
    const json = JSON.parse(await answered({ exact: true, places: [place] }, { json: true }));
    expect(json).toMatchObject({ exact: true, places: [{ session: place.session }] });
    expect(await runInside(recall, host, { words: [" "] })).toMatchObject({ code: 2 });
  });
});

/** What an agent sends to `spoor mcp`, and what is written back, by the messages' ids. */
async function speak(host: Parameters<typeof runInside>[1], ...sent: (object | string)[]) {
  const answer = sent
    .map((one) => (typeof one === "string" ? one : JSON.stringify({ jsonrpc: "2.0", ...one })))
    .join("\n");
  const { code, output } = await runInside(mcp, host, { answer });
  const lines = output.split("\n").filter(Boolean);
  return { code, answers: lines.map((line) => JSON.parse(line)).toSorted((a, b) => a.id - b.id) };
}

describe("mcp", () => {
  test("passes calls on with the token and the headers of their revision, and answers back unchanged", async () => {
    const { fake, host } = await worldInside(0);
    const seen: unknown[] = [];
    const long = "→".repeat(20_000);
    fake.failWith(({ headers }, body) => {
      const { id, method } = JSON.parse(body.toString());
      seen.push([
        method,
        headers.authorization,
        headers["mcp-protocol-version"],
        headers["mcp-method"],
        headers["mcp-name"],
      ]);
      if (id === undefined) return { status: 202 };
      return { status: id === 2 ? 400 : 200, body: { jsonrpc: "2.0", id, result: { long } } };
    });
    const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    const { code, answers } = await speak(
      host,
      { id: 1, method: "tools/call", params: { name: "list_recent", _meta } },
      { method: "notifications/cancelled" },
      { id: 2, method: "ping" },
    );
    expect(code).toBe(0);
    expect(seen.toSorted()).toEqual([
      ["notifications/cancelled", "Bearer spoor_test", undefined, undefined, undefined],
      ["ping", "Bearer spoor_test", undefined, undefined, undefined],
      ["tools/call", "Bearer spoor_test", "2026-07-28", "tools/call", "list_recent"],
    ]);
    expect(answers).toEqual([1, 2].map((id) => ({ jsonrpc: "2.0", id, result: { long } })));
  });

  test("answers each call that fails with an error, and goes on", async () => {
    const { fake, host } = await worldInside(0);
    fake.failWith((_request, body) => {
      const { id } = JSON.parse(body.toString());
      if (id === 1) return problem(401, { detail: "The token is not valid." });
      if (id === 2) return problem(429, { detail: "Too many requests." }, { "Retry-After": "60" });
      return { status: 200, body: { jsonrpc: "2.0", id, result: {} } };
    });
    const { code, answers } = await speak(host, "no json", ...[1, 2, 3].map((id) => ({ id, method: "ping" })));
    expect(code).toBe(0);
    expect(answers).toEqual([
      { jsonrpc: "2.0", id: null, error: { code: -32_700, message: "This is not a JSON-RPC message." } },
      { jsonrpc: "2.0", id: 1, error: { code: -32_000, message: expect.stringContaining("spoor login --server") } },
      { jsonrpc: "2.0", id: 2, error: { code: -32_000, message: "Too many requests." } },
      { jsonrpc: "2.0", id: 3, result: {} },
    ]);
  });
});
