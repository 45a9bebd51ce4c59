import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aider } from "../../cli/adapters/aider/adapter.ts";
import { vibe } from "../../cli/adapters/vibe/adapter.ts";
import { tally } from "./databases.ts";
import { discoverAll, kinds, makeHome, parseAll, toLines, writeBelow } from "./home.ts";

const own = (line: string) => `${line}  \n`;
const chats = [
  "\n# aider chat started at 2026-11-01 10:00:00\n\n",
  own("> Aider v0.86.1"),
  own("> Main model: claude-opus-4-5 with diff edit format"),
  `\n${own("#### Fix the timer")}${own("#### and test it")}`,
  "\nI will fix it.\n\n#### Step 1\n\n> A quotation of mine\n\n```py\n# aider is no chat\n```\n\n",
  own("> Tokens: 2.1k sent, 150 received. Cost: $0.0123 message, $0.02 session."),
  own("> Applied edit to timer.py"),
  own("> Commit abc1234 fix: Timer"),
  "\n# aider chat started at 2026-11-01 10:00:00\n\n",
  `\n${own("#### /exit")}`,
  "\n# aider chat started at 2026-11-02 09:00:00\n\n",
  "#### Add a retry\nDone.\n\n> Applied edit to a.py\n",
].join("");

test("a history of Aider has a session for each chat, and its own lines are told from the model's", async () => {
  const host = await makeHome({ "code/api/.aider.chat.history.md": `stray\n${chats}` });
  const folder = join(host.home, "code/api");
  const { sessions, invalid } = await parseAll(aider, { ...host, cwd: join(folder) });
  const place = createHash("sha256").update(folder).digest("hex").slice(0, 12);
  expect(sessions.map(({ sourceId }) => sourceId)).toEqual([
    `${place}-20261101100000`,
    `${place}-20261101100000-2`,
    `${place}-20261102090000`,
  ]);
  expect(kinds(sessions[0]?.messages)).toEqual([
    ["system", "notice", "Aider v0.86.1\nMain model: claude-opus-4-5 with diff edit format"],
    ["user", "", "Fix the timer\nand test it"],
    ["assistant", "", "I will fix it.\n\n#### Step 1\n\n> A quotation of mine\n\n```py\n# aider is no chat\n```"],
    ["system", "notice", expect.stringMatching(/^Tokens[\s\S]*Timer$/)],
  ]);
  expect(sessions[0]?.messages[3]?.metadata?.costUsd).toBe(0.0123);
  expect(sessions[0]?.ending).toMatchObject({
    model: "claude-opus-4-5",
    project: "api",
    createdAt: new Date("2026-11-01T10:00:00").toISOString(),
    metadata: {
      cwd: folder,
      agentVersion: "0.86.1",
      commits: [{ hash: "abc1234", subject: "fix: Timer", position: 3 }],
    },
  });
  expect(kinds(sessions[1]?.messages)).toEqual([["user", "", "/exit"]]);
  // Without the marks (an editor removed them), lines are told by how they begin.
  expect(kinds(sessions[2]?.messages)).toEqual([
    ["user", "", "Add a retry"],
    ["assistant", "", "Done."],
    ["system", "notice", "Applied edit to a.py"],
  ]);
  expect(invalid).toEqual(["1: before the first chat"]);
});

/** Who wrote what, told by a line's beginning and end alone: a chat of our own, whose lines all have their marks. */
function countAider(text: string) {
  const counts = { chats: 0, user: 0, notice: 0, assistant: 0, cost: 0, commits: 0 };
  let last = "";
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const isOwn = line.endsWith("  ");
    const author = isOwn && line.startsWith("####") ? "user" : isOwn && line.startsWith(">") ? "notice" : "assistant";
    if (line.startsWith("# aider chat started")) {
      counts.chats++;
      last = "";
      continue;
    }
    if (author !== last) counts[author]++;
    last = author;
    counts.cost += Number(/Cost: \$(\S+) message/.exec(line)?.[1] ?? 0);
    if (line.startsWith("> Commit ")) counts.commits++;
  }
  return counts;
}

test("Aider: a small reading of the same history counts the same", async () => {
  const turn = (number: number) =>
    [
      `\n${own(`#### Why ${number}?`)}${own("#### And how?")}`,
      `\nSo ${number}.\n\n> A quotation\n\n#### A heading\n\n`,
      own(`> Tokens: 2k sent, 150 received. Cost: $0.25 message, $${number} session.`),
      own(`> Commit abc123${number} fix: ${number}`),
      `\n${own("#### /run ls")}`,
      own(`> file ${number}`),
    ].join("");
  const chat = (hour: number) =>
    `\n# aider chat started at 2026-11-01 1${hour}:00:00\n\n${[1, 2, 3].map(turn).join("")}`;
  const text = [0, 1, 2].map(chat).join("");
  const host = await makeHome({ "code/api/.aider.chat.history.md": text });
  const { sessions, unhandled, invalid } = await parseAll(aider, { ...host, cwd: join(host.home, "code/api") });
  const messages = sessions.flatMap((session) => session.messages);
  expect({
    chats: sessions.length,
    ...tally(messages),
    cost: messages.reduce((sum, { metadata }) => sum + Number(metadata?.costUsd ?? 0), 0),
    commits: sessions.flatMap(({ ending }) => ending.metadata?.commits ?? []).length,
  }).toEqual(countAider(text));
  expect([unhandled, invalid]).toEqual([[], []]);
});

test("Aider's histories are found in the current folder and those above, or where a variable says", async () => {
  const host = await makeHome({
    "a/b/c/x": "",
    "a/.aider.chat.history.md": chats,
    "d/.aider.chat.history.md": chats,
    "e/own.md": chats,
  });
  const from = async (env: Record<string, string>) =>
    (await discoverAll(aider, { ...host, cwd: join(host.home, "a/b/c"), env })).map(({ path }) =>
      path.slice(host.home.length + 1),
    );
  expect(await from({})).toEqual(["a/.aider.chat.history.md"]);
  expect(await from({ SPOOR_AIDER: join(host.home, "d") })).toEqual(["d/.aider.chat.history.md"]);
  expect(await from({ AIDER_CHAT_HISTORY_FILE: join(host.home, "e/own.md") })).toEqual([
    "a/.aider.chat.history.md",
    "e/own.md",
  ]);
});

const folder = ".vibe/logs/session/session_20261101_100000_abc";
const meta = {
  session_id: "0199-abc",
  start_time: "2026-11-01T10:00:00+00:00",
  git_branch: "main",
  environment: { working_directory: "/code/web" },
  title: "A look",
  config: { active_model: "devstral-2" },
  stats: { session_prompt_tokens: 200, session_completion_tokens: 100, session_cached_tokens: 150 },
};
const records = [
  { role: "system", content: "You are…" },
  { role: "user", content: "Look" },
  { role: "user", content: "Remember the plan.", injected: true },
  {
    role: "assistant",
    content: [{ type: "text", text: "I look." }],
    reasoning_content: "Hm.",
    tool_calls: [{ id: "c", index: 0, function: { name: "bash", arguments: '{"command":"ls"}' } }],
  },
  { role: "tool", content: "a.ts", name: "bash", tool_call_id: "c" },
  { role: "ghost", content: "" },
];

test("a session of Mistral Vibe has its turns, details and tokens, and another stamp when either file changes", async () => {
  const host = await makeHome({
    [`${folder}/messages.jsonl`]: `${toLines(...records)}{"role":"us`,
    [`${folder}/meta.json`]: JSON.stringify(meta),
  });
  const { sessions, unhandled, counts } = await parseAll(vibe, host);
  expect(kinds(sessions[0]?.messages)).toEqual([
    ["user", "", "Look"],
    ["user", "notice", "Remember the plan."],
    ["assistant", "thinking", "Hm."],
    ["assistant", "", "I look."],
    ["assistant", "call", "bash\nls"],
    ["tool", "result", "a.ts"],
  ]);
  expect(sessions[0]).toMatchObject({
    source: "mistral-vibe",
    sourceId: "0199-abc",
    ending: {
      title: "A look",
      project: "web",
      model: "devstral-2",
      metadata: { branch: "main", usage: { inputTokens: 50, outputTokens: 100, cacheReadTokens: 150 } },
    },
  });
  expect([unhandled, counts]).toEqual([["role.ghost"], { entries: 6, skipped: 2, invalid: 0 }]);
  const [before] = await discoverAll(vibe, host);
  await writeBelow(host.home, `${folder}/meta.json`, JSON.stringify({ ...meta, title: "Another" }));
  expect((await discoverAll(vibe, host))[0]?.stamp).not.toBe(before?.stamp);
});
