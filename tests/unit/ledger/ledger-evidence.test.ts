import { expect, test } from "vitest";
import { addRecorded, EvidenceReading } from "#lib/ledger/evidence/reading";

type Given = { content?: string; role?: string; metadata?: Record<string, unknown> };

/** What messages prove, and the trace's own metadata after them; and from where an open call has to be seen again. */
function read(messages: Given[], metadata: Record<string, unknown> | null = null) {
  const reading = new EvidenceReading();
  for (const [position, { content = "", role = null, metadata = null }] of messages.entries())
    reading.see({ position, role, content, tokenCount: null, createdAt: null, metadata });
  const { findings } = reading;
  addRecorded({ metadata }, findings);
  return {
    branches: [...findings.branches.values()].map(({ branch, position, evidence }) => [branch, position, evidence]),
    commits: findings.commits,
    pullRequests: [...findings.pullRequests.values()].map(({ url, position, evidence }) => [url, position, evidence]),
    openFrom: reading.openFrom(),
  };
}

const made = "[topic abc1234] Mend the timer\n 1 file changed, 2 insertions(+)";
const url = "https://github.com/ada/api/pull/12";
const commit = {
  repository: null,
  subject: "Mend the timer",
  branch: "topic",
  hash: "abc1234",
  evidence: "git-commit",
  replayed: false,
};
const found = { branches: [["topic", 1, "git-commit"]], commits: [{ ...commit, position: 1 }], pullRequests: [] };

const command = "git commit -m x";
const input = { command };

test.each<[string, Given[]]>([
  [
    "the reader's vocabulary",
    [
      { metadata: { tool: { name: "Bash", callId: "c", input, content: "call" } }, content: command },
      { metadata: { result: { callId: "c" } }, content: made },
    ],
  ],
  [
    "Claude Code's own lines",
    [
      { metadata: { message: { content: [{ type: "tool_use", id: "c", name: "Bash", input }] } } },
      { metadata: { message: { content: [{ type: "tool_result", tool_use_id: "c", content: made }] } } },
    ],
  ],
  [
    "Codex' own lines",
    [
      {
        metadata: {
          payload: { type: "function_call", name: "exec_command", call_id: "c", arguments: `{"cmd":"${command}"}` },
        },
      },
      {
        metadata: {
          payload: {
            type: "function_call_output",
            call_id: "c",
            output: JSON.stringify({ output: made, metadata: { exit_code: 0 } }),
          },
        },
      },
    ],
  ],
  [
    "a script of Codex",
    [
      {
        metadata: {
          tool: { name: "exec", callId: "c", input: { input: `tools.exec_command({cmd: "${command}"})` } },
        },
      },
      { metadata: { result: { callId: "c" } }, content: `Script completed\n${JSON.stringify({ output: made })}` },
    ],
  ],
  [
    "a script of Codex that prints what its command printed",
    [
      {
        metadata: {
          tool: { name: "exec", callId: "c", input: { input: `tools.exec_command({cmd: "${command}"})` } },
        },
      },
      {
        metadata: { result: { callId: "c" } },
        content: `Script completed\nWall time 0.1 seconds\nOutput:\n\n${made}`,
      },
    ],
  ],
  [
    "Gemini's own messages",
    [
      {},
      {
        metadata: {
          toolCalls: [{ id: "c", name: "run_shell_command", args: input, status: "success", resultDisplay: made }],
        },
      },
    ],
  ],
  [
    "the API of OpenAI",
    [
      { metadata: { tool_calls: [{ id: "c", function: { name: "shell", arguments: JSON.stringify(input) } }] } },
      { role: "tool", metadata: { type: "tool_result", tool_call_id: "c" }, content: made },
    ],
  ],
  [
    "markup in plain content",
    [
      {},
      {
        content: `<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\n<summary>Tool use: **Bash**</summary>\nCommit\n\n\`${command}\`\n\n\`\`\`text\n${made}\n\`\`\`\n</details></tool-use>`,
      },
    ],
  ],
  [
    "the messages of a sub-agent that are part of one",
    [
      {},
      {
        content: `<tool-use data-tool-type="task" data-tool-name="Task"><details>\n<summary>Tool use: **Task**</summary>\nMend\n</details></tool-use>\n\n_**Agent - sidechain (m 2026-11-14 16:04:10Z)**_\n\n<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\n<summary>Tool use: **Bash**</summary>\n\`${command}\`\n\n\`\`\`text\n${made}\n\`\`\`\n</details></tool-use>`,
      },
    ],
  ],
  ["two plain messages", [{ metadata: { tool: { name: "Bash", input } } }, { role: "tool", content: made }]],
])("a commit is found in %s, at the message that shows it", (_, messages) => {
  expect(read(messages)).toEqual({ ...found, openFrom: undefined });
});

const call = (command: string, callId = "c"): Given => ({
  metadata: { tool: { name: "Bash", callId, input: { command }, content: "call" } },
  content: command,
});
const result = (content: string, callId = "c"): Given => ({ metadata: { result: { callId } }, content });

test("what is quoted, read, viewed, or planned proves nothing, and what is replayed is marked", () => {
  const none = { branches: [], commits: [], pullRequests: [], openFrom: undefined };
  expect(read([{ role: "user", content: `Review ${url}\n${made}` }])).toEqual(none);
  expect(read([{ role: "assistant", content: `Run \`${command}\`:\n\n\`\`\`\n${made}\n\`\`\`` }])).toEqual(none);
  expect(read([call("gh pr view 12"), result(url)])).toEqual(none);
  expect(read([call("cat log"), result(made)])).toEqual(none);
  const replayed = [call(command), result(made)].map(({ content = "", metadata }) => ({
    content,
    metadata: { ...metadata, replayed: true },
  }));
  const copied = { ...commit, position: 1, replayed: true };
  expect(read(replayed)).toEqual({ ...none, commits: [copied] });
  expect(read([...replayed, call(command), result(made)]).commits).toEqual([
    { ...copied, position: 3, replayed: false },
  ]);
});

test("an open call has to be seen again when the session grows", () => {
  expect(read([{}, call(command), call("git push", "d"), result("", "d")]).openFrom).toBe(1);
  expect(read([call("ls"), { metadata: { tool: { name: "Bash", input } } }]).openFrom).toBe(1);
});

test("pull requests are opened by commands and tools, or linked by the agent", () => {
  const answer = JSON.stringify({ html_url: "https://github.com/ada/web/pull/3" });
  const tool = { name: "mcp__github__create_pull_request", callId: "t", input: {} };
  const { pullRequests } = read(
    [
      call("gh pr create --fill"),
      result(`Creating pull request\n\n${url}\n`),
      { metadata: { tool } },
      result(answer, "t"),
      { metadata: { type: "pr-link", prUrl: "https://github.com/ada/api/pull/13", prNumber: 13 } },
      { metadata: { toolUseResult: { gitOperation: { pr: { action: "created", url: `${url}4` } } } } },
    ],
    { pullRequests: [{ url }, { url: "https://github.com/ada/api/pull/14" }, { url: "ftp://x/y/z/pull/1" }, 7] },
  );
  expect(pullRequests).toEqual([
    [url, 1, "gh-pr-create"],
    ["https://github.com/ada/web/pull/3", 3, "pull-request-tool"],
    ["https://github.com/ada/api/pull/13", 4, "pr-link"],
    [`${url}4`, 5, "gh-pr-create"],
    ["https://github.com/ada/api/pull/14", null, "pr-link"],
  ]);
});

const full = "abc1234abc1234abc1234abc1234abc1234abc12";

test("what the trace tells comes after what its messages prove; a longer hash replaces its abbreviation", () => {
  const { branches, commits } = read(
    [{ metadata: { branch: "HEAD" } }, { metadata: { gitBranch: "main" } }, call(command), result(made)],
    {
      branch: "main",
      commits: [
        { hash: full.toUpperCase(), repository: "https://ada:secret@git.test/ada/api.git", position: 9 },
        { hash: "fff0000" },
        { hash: "x" },
        null,
      ],
      git: { branch: "next", commit_hash: "0123456", repository_url: "git@github.com:ada/api.git" },
    },
  );
  expect(branches).toEqual([
    ["main", 1, "message"],
    ["topic", 3, "git-commit"],
    ["next", null, "session-meta"],
  ]);
  const bare = { branch: null, subject: null, position: null, evidence: "session-meta", replayed: false };
  expect(commits).toEqual([
    { ...commit, hash: full, position: 3, repository: "https://git.test/ada/api.git" },
    { ...bare, hash: "fff0000", repository: null },
    { ...bare, hash: "0123456", repository: "git@github.com:ada/api.git" },
  ]);
});

test("of a hostile session a bounded number is kept", () => {
  const lines = (from: number) =>
    Array.from({ length: 1000 }, (_, at) => `[main ${(0xabc_0000_0000 + from + at).toString(16)}] x`).join("\n");
  const many = Array.from({ length: 20 }, (_, at) => [
    call(`${command}; gh pr create`),
    result(lines(at * 1000)),
  ]).flat();
  const open = Array.from({ length: 500 }, (_, at) => call(command, `open ${at}`));
  const { commits, openFrom } = read([...many, ...open], { commits: Array(5000).fill({ hash: full }) });
  expect([commits.length, openFrom]).toEqual([500, 440]);
});
