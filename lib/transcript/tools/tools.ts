import type { Call, ToolResult } from "#lib/transcript/call";
import type { Block, PartKind, RowPart } from "#lib/transcript/message";
import { readOutcome } from "#lib/transcript/outcome";
import { plainCall } from "#lib/transcript/script";
import { countLines, firstLine, formatQuantity, readableJson } from "#lib/transcript/text";
import { type Describe, type Fields, field, printed } from "#lib/transcript/tools/describe";
import { describeEdit, describeRead, describeReported, describeWrite } from "#lib/transcript/tools/files";
import { describePlan, describeQuestion, describeTasks } from "#lib/transcript/tools/plans";
import { findToolKind } from "#lib/transcript/vocabulary";

export const findCallKind = (call: Call): PartKind => call.kind ?? findToolKind(call.name, call.type);

export function describeTool(written: Call, result: ToolResult | undefined): RowPart {
  const call = plainCall(written);
  const kind = findCallKind(call);
  const outcome = readOutcome(result);
  const known = describers[kind] ?? describeUnknown;
  const { status, exitCode, durationMs } = outcome;
  return {
    kind,
    tool: written.name,
    status,
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
    ...(result?.session && { session: result.session }),
    ...known(call.input, outcome, call, result),
  };
}

const describeShell: Describe = (input, outcome, call, result) => {
  const command = getCommand(input).trim();
  const { blocks, ...changed } = describeReported(result);
  const note = firstLine(field(input, "description", "justification", "explanation", "summary"));
  return {
    title: firstLine(withoutFolder(command)) || note || call.name,
    ...(note && command !== "" && { note }),
    ...(outcome.output.trim() !== "" && { amount: formatQuantity(countLines(outcome.output), "line") }),
    ...changed,
    blocks: [
      ...(command === "" ? [] : [{ type: "code", text: command, language: "bash", label: "Command" } as const]),
      ...blocks,
      ...printed(outcome),
    ],
  };
};

/** The opened row still shows the `cd`. */
const withoutFolder = (command: string) =>
  command.replace(/^cd (?:"[^"\n]+"|'[^'\n]+'|[^\s;&|"'$`]+)[ \t]*(?:&&|;|\n)\s*(?=\S)/, "");

/** Codex runs lists such as `["bash","-lc","…"]`: the last entry is the command. */
function getCommand(input: Fields): string {
  const { command, cmd } = input;
  const list = [command, cmd].find(Array.isArray);
  if (list && /^(?:.*\/)?(?:ba|z)?sh$/.test(String(list[0])) && list.length === 3) return String(list[2]);
  return field(input, "command", "cmd", "CommandLine", "script", "code", "input", "chars", "bash_id", "task_id");
}

const describeSearch: Describe = (input, outcome) => {
  const pattern = field(input, "pattern", "query", "regex", "Query", "glob", "search", "path", "text");
  const place = field(input, "path", "dir_path", "SearchPath", "include", "glob");
  const none = /^(?:No (?:matches|files|results) found|Found 0 )/i.test(outcome.output.trim());
  const hits = none ? 0 : outcome.output.split("\n").filter((line) => line.trim() !== "").length;
  return {
    title: firstLine(pattern) || "a search",
    ...(place && place !== pattern && { note: `in ${place}` }),
    ...(outcome.status === "ok" && (none || hits > 0) && { amount: none ? "no hits" : formatQuantity(hits, "line") }),
    blocks: none ? [] : printed(outcome),
  };
};

const describeWeb: Describe = (input, outcome) => {
  const given = field(input, "url", "Url", "uri", "query", "q", "text", "input");
  const host = URL.canParse(given) ? new URL(given).host : "";
  const text = outcome.output;
  return {
    title: firstLine(given) || "the web",
    ...(host && { note: host }),
    blocks: [
      ...(given.length > 200 ? [{ type: "code", text: given, language: "" } as const] : []),
      ...(text.trim() === "" ? [] : [{ type: "markdown", text } as const]),
    ],
  };
};

const describeSubagent: Describe = (input, outcome) => {
  const type = field(input, "subagent_type", "agent_type", "agentType", "role");
  const task = field(input, "description", "text", "title", "prompt", "message");
  const prompt = field(input, "prompt", "message", "task");
  return {
    title: firstLine(task) || "a sub-agent",
    ...(type && { note: type }),
    blocks: [
      ...(prompt && prompt !== task ? [{ type: "markdown", text: prompt, fold: "Task" } as const] : []),
      ...(outcome.output.trim() ? [toReportBlock(outcome.output)] : []),
    ],
  };
};

const toReportBlock = (text: string): Block =>
  /^Async agent launched/.test(text.trimStart())
    ? { type: "markdown", text, fold: "Message to the agent" }
    : { type: "markdown", text };

const describeCommand: Describe = (input, outcome, call) => ({
  title: firstLine(
    [field(input, "skill", "command", "name") || call.name, field(input, "args", "arguments")].join(" "),
  ),
  blocks: printed(outcome),
});

const describeUnknown: Describe = (input, outcome) => {
  const entries = Object.entries(input).slice(0, 2);
  const note = entries.map(([key, value]) => `${key}: ${firstLine(plain(value), 60)}`).join(", ");
  const json = Object.keys(input).length > 0 ? readableJson(input) : "";
  return {
    title: "",
    ...(note && { note }),
    blocks: [...(json ? [{ type: "code", text: json, language: "json" } as const] : []), ...printed(outcome)],
  };
};

const plain = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

const describers: Partial<Record<PartKind, Describe>> = {
  shell: describeShell,
  edit: describeEdit,
  write: describeWrite,
  read: describeRead,
  search: describeSearch,
  web: describeWeb,
  question: describeQuestion,
  plan: describePlan,
  tasks: describeTasks,
  subagent: describeSubagent,
  command: describeCommand,
};
