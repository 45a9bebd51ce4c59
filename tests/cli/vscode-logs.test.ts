import { expect, test } from "vitest";
import { vscodeCopilot } from "../../cli/adapters/vscode-copilot/adapter.ts";
import { discoverAll, makeHome, parseAll, toLines, writeBelow } from "./home.ts";
import { answer, chats, request, session, texts, workspace } from "./vscode-chats.ts";

/** Applies the lines of a log as the editor does, simply. */
function replayed(lines: Record<string, unknown>[]): Record<string, unknown> {
  const state: { v: unknown } = { v: undefined };
  for (const { kind, k = [], v, i } of structuredClone(lines) as {
    kind: number;
    k?: (string | number)[];
    v?: unknown;
    i?: number;
  }[]) {
    const path = ["v", ...k];
    const target = path.slice(0, -1).reduce((at: never, key) => at[key], state as never) as Record<string, unknown>;
    const key = String(path.at(-1));
    if (kind < 2) target[key] = v;
    else if (kind === 3) delete target[key];
    else target[key] = [...((target[key] as unknown[]) ?? []).slice(0, i), ...((v as unknown[]) ?? [])];
  }
  return state.v as Record<string, unknown>;
}

const log = [
  {
    kind: 0,
    v: session([request(1, [answer("One")]), request(2, [])], {
      repoData: { remoteUrl: "https://ada:x@example.org/a/b.git", localBranch: "main" },
    }),
  },
  { kind: 1, k: ["customTitle"], v: "Started" },
  { kind: 2, k: ["requests", 1, "response"], v: [answer("Tw")] },
  { kind: 2, k: ["requests", 1, "response"], v: [answer("Two")], i: 0 },
  { kind: 2, k: ["requests"], v: [request(3, [answer("Three")]), request(4, [answer("Four")])] },
  { kind: 2, k: ["requests"], v: [request(5, [])], i: 3 },
  { kind: 1, k: ["requests", 3, "response"], v: [answer("Five")] },
  { kind: 2, k: ["requests", 3, "response"], v: [answer(" again")] },
  { kind: 1, k: ["requests", 0, "vote"], v: 1 },
  { kind: 1, k: ["customTitle"], v: "Named" },
  { kind: 3, k: ["responderUsername"] },
];

test("a log is replayed as the editor does, and each request is sent once it is final", async () => {
  const whole = replayed(log);
  const host = await makeHome({
    ...workspace,
    [`${chats}/log.jsonl`]: toLines(...log),
    [`${chats}/whole.json`]: JSON.stringify(whole),
  });
  const { sessions, counts, unhandled } = await parseAll(vscodeCopilot, host);
  const [fromLog, fromWhole] = sessions;
  expect(fromLog).toEqual({ ...fromWhole, sourceId: "log" });
  expect(texts(fromLog?.messages)).toEqual([
    ["user", "Question 1"],
    ["assistant", "One"],
    ["user", "Question 2"],
    ["assistant", "Two"],
    ["user", "Question 3"],
    ["assistant", "Three"],
    ["user", "Question 5"],
    ["assistant", "Five again"],
  ]);
  expect(fromLog?.ending).toMatchObject({
    title: "Named",
    metadata: { repository: "https://example.org/a/b.git", branch: "main" },
  });
  expect([counts.invalid, unhandled]).toEqual([0, []]);
});

test("drift and cut-off files fail nothing, and are counted; a session that grew has another stamp", async () => {
  const odd = [
    { kind: 0, v: session([{ message: 5, response: 7 }, null as never, request(1, [answer("Hi")])]) },
    { kind: 9 },
    [1],
  ];
  const host = await makeHome({
    [`${chats}/a.jsonl`]: `${toLines(...odd)}{"kind":1,"k":["customTi`,
    [`${chats}/b.json`]: JSON.stringify(session([request(1, [answer("Hi")])])).slice(0, -1),
    [`${chats}/c.json`]: "no JSON",
  });
  const { sessions, counts } = await parseAll(vscodeCopilot, host);
  expect(sessions.map(({ sourceId, messages }) => [sourceId, messages.length])).toEqual([
    ["a", 2],
    ["b", 2],
  ]);
  expect(counts.invalid).toBeGreaterThanOrEqual(4);
  const before = await discoverAll(vscodeCopilot, host);
  await writeBelow(host.home, `${chats}/a.jsonl`, toLines(...odd, { kind: 1, k: ["customTitle"], v: "x" }));
  const after = await discoverAll(vscodeCopilot, host);
  expect(after.filter(({ stamp }, index) => stamp !== before[index]?.stamp)).toHaveLength(1);
});
