import type { Call, Result } from "#lib/reader/call";
import { type Change, compare, joinChanges, readFilePatches, readPatch, sumOf } from "#lib/reader/changes";
import type { Block, Kind, Part, TaskState } from "#lib/reader/message";
import { type Outcome, outcomeOf } from "#lib/reader/outcome";
import { amountOf, countLines, firstLine } from "#lib/reader/text";
import { kindOfTool, languageOfPath } from "#lib/reader/vocabulary";

type Fields = Record<string, unknown>;
type Described = Partial<Part> & { title: string; blocks: Block[] };
type Describe = (input: Fields, outcome: Outcome, call: Call, result?: Result) => Described;

export const kindOfCall = (call: Call): Kind => call.kind ?? kindOfTool(call.name, call.type);

/** A call and what came of it, as the reader shows it. */
export function describeTool(call: Call, result: Result | undefined): Part {
  const kind = kindOfCall(call);
  const outcome = outcomeOf(result);
  const known = describers[kind] ?? describeUnknown;
  const { status, exitCode, durationMs } = outcome;
  return {
    kind,
    tool: call.name,
    status,
    ...(exitCode !== undefined && { exitCode }),
    ...(durationMs !== undefined && { durationMs }),
    ...known(call.input, outcome, call, result),
  };
}

/** The text of the first of some fields that has one. */
function field(input: Fields, ...keys: string[]): string {
  for (const key of keys) {
    const value = input[key];
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === "string"))
      return value.join(" ");
  }
  return "";
}

const pathOf = (input: Fields) =>
  field(
    input,
    "file_path",
    "path",
    "filePath",
    "target_file",
    "absolute_path",
    "filename",
    "notebook_path",
    "TargetFile",
    "AbsolutePath",
    "dir_path",
    "target_directory",
    "DirectoryPath",
    "paths",
    "file",
  );

const printed = ({ output }: Outcome): Block[] => (output.trim() === "" ? [] : [{ type: "output", text: output }]);

const describeShell: Describe = (input, outcome) => {
  const command = commandOf(input).trim();
  const note = firstLine(field(input, "description", "justification", "explanation", "summary"));
  const long = command.includes("\n") || command.length > 200;
  return {
    title: firstLine(command) || note || "a command that is not told",
    ...(note && command !== "" && { note }),
    ...(outcome.output.trim() !== "" && { amount: amountOf(countLines(outcome.output), "line") }),
    blocks: [...(long ? [{ type: "code", text: command, language: "bash" } as const] : []), ...printed(outcome)],
  };
};

/** Codex runs lists such as `["bash","-lc","…"]`: what stands last is the command. */
function commandOf(input: Fields): string {
  const { command, cmd } = input;
  const list = [command, cmd].find(Array.isArray);
  if (list && /^(?:.*\/)?(?:ba|z)?sh$/.test(String(list[0])) && list.length === 3) return String(list[2]);
  return field(input, "command", "cmd", "CommandLine", "script", "code", "input", "chars", "bash_id", "task_id");
}

const describeEdit: Describe = (input, outcome, _call, result) => {
  const patch = field(input, "patch", "diff", "input", "patchText");
  const files = readFilePatches(patch)?.map((file) => ({ ...file, change: readPatch(file.patch) })) ?? [
    { path: pathOf(input), change: editOf(input, result?.patch ?? patch), isNew: false },
  ];
  const shown = files.filter(({ change }) => change.lines.length > 0);
  const blocks = shown.map(
    ({ path, change: { lines } }): Block => ({
      type: "diff",
      lines,
      ...(files.length > 1 && { path }),
    }),
  );
  const counted = files.map(({ path, change: { added, removed } }) => ({ path, added, removed }));
  return {
    kind: files.every(({ isNew }) => isNew) ? "write" : "edit",
    title: files.length > 1 ? amountOf(files.length, "file") : files[0]?.path || firstLine(outcome.output) || "a file",
    ...(shown.length > 0 && { changes: sumOf(counted) }),
    ...(outcome.status !== "rejected" && { files: counted.filter(({ path }) => path !== "") }),
    blocks: [...blocks, ...(outcome.status === "ok" && shown.length > 0 ? [] : printed(outcome))],
  };
};

function editOf(input: Fields, patch: string): Change {
  if (patch.trim() !== "") return readPatch(patch);
  const edits = [input.edits, input.replacements, input.ReplacementChunks].find(Array.isArray) ?? [input];
  return joinChanges(
    edits
      .filter(isObject)
      .slice(0, 200)
      .map((edit) =>
        compare(
          field(edit, "old_string", "oldString", "old_str", "oldText", "TargetContent"),
          field(edit, "new_string", "newString", "new_str", "newText", "ReplacementContent", "new_source"),
        ),
      ),
  );
}

const describeWrite: Describe = (input, outcome) => {
  const path = pathOf(input);
  const text = field(input, "content", "contents", "file_text", "CodeContent", "text", "fileText");
  const added = countLines(text);
  return {
    title: path || firstLine(outcome.output) || "a file",
    ...(text !== "" && { amount: amountOf(added, "line"), changes: { added, removed: 0 } }),
    ...(outcome.status !== "rejected" && path && { files: [{ path, added, removed: 0 }] }),
    blocks: [
      ...(text === "" ? [] : [{ type: "code", text, language: languageOfPath(path) } as const]),
      ...(outcome.status === "ok" && text !== "" ? [] : printed(outcome)),
    ],
  };
};

/** Line numbers before an arrow or a tab, as tools print files. */
const numbered = /^[ \t]*\d+(?:→|\t)/;

const describeRead: Describe = (input, outcome) => {
  const path = pathOf(input);
  const lines = outcome.output === "" ? [] : outcome.output.replace(/\n$/, "").split("\n");
  const bare = lines.length > 0 && lines.every((line) => numbered.test(line));
  const text = bare ? lines.map((line) => line.replace(numbered, "")).join("\n") : outcome.output;
  const ok = outcome.status === "ok" && text.trim() !== "";
  return {
    title: path || field(input, "input", "query", "text") || "a file",
    ...(ok && { amount: amountOf(countLines(text), "line") }),
    blocks: ok ? [{ type: "code", text, language: languageOfPath(path) }] : printed(outcome),
  };
};

const describeSearch: Describe = (input, outcome) => {
  const pattern = field(input, "pattern", "query", "regex", "Query", "glob", "search", "path", "text");
  const place = field(input, "path", "dir_path", "SearchPath", "include", "glob");
  const none = /^(?:No (?:matches|files|results) found|Found 0 )/i.test(outcome.output.trim());
  const hits = none ? 0 : outcome.output.split("\n").filter((line) => line.trim() !== "").length;
  return {
    title: firstLine(pattern) || "a search",
    ...(place && place !== pattern && { note: `in ${place}` }),
    ...(outcome.status === "ok" && (none || hits > 0) && { amount: none ? "no hits" : amountOf(hits, "line") }),
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

const describeQuestion: Describe = (input, outcome) => {
  const asked = Array.isArray(input.questions) ? input.questions.filter(isObject).map(questionText).join("\n\n") : "";
  const text = asked || field(input, "question", "text", "prompt", "message");
  const answer = outcome.output.trim();
  const { title, rest } = takeTitle(text);
  return {
    title: title || "a question",
    blocks: [
      ...(rest ? [{ type: "markdown", text: rest } as const] : []),
      ...(answer ? [{ type: "markdown", text: `**Answer:** ${answer}` } as const] : []),
    ],
  };
};

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;

function questionText(question: Fields): string {
  const options = Array.isArray(question.options) ? question.options.slice(0, 50) : [];
  const listed = options.map((option) =>
    isObject(option)
      ? `- **${field(option, "label", "value")}** ${field(option, "description")}`
      : `- ${String(option)}`,
  );
  return [`**${field(question, "question", "header")}**`, listed.join("\n")].filter(Boolean).join("\n\n");
}

/** A text's first line as a title, and what follows it; all of it follows where the line is no heading and does not fit. */
function takeTitle(text: string): { title: string; rest: string } {
  const [line = "", ...lines] = text.trim().split("\n");
  const title = firstLine(line.replace(/^#+ |\*\*/g, ""));
  const whole = /^(?:#+ |\*\*)/.test(line) && !title.endsWith("…");
  return { title, rest: whole ? lines.join("\n").trim() : text };
}

const describePlan: Describe = (input, outcome, call) => {
  const text = field(input, "plan", "text", "content", "response");
  const entering = /enter/i.test(call.name);
  const { title, rest } = takeTitle(text);
  return {
    title: entering ? "Planning begins" : title || "A plan",
    blocks: [
      ...(rest ? [{ type: "markdown", text: rest } as const] : []),
      ...(entering || (outcome.status === "ok" && text) ? [] : printed(outcome)),
    ],
  };
};

const taskStates: Record<string, TaskState> = {
  completed: "done",
  done: "done",
  x: "done",
  "⚡": "doing",
  in_progress: "doing",
  "in-progress": "doing",
};

const describeTasks: Describe = (input, outcome) => {
  const list = [input.todos, input.plan, input.items, input.tasks].find(Array.isArray)?.filter(isObject) ?? [];
  const given = field(input, "text");
  const items = list.length > 0 ? list.slice(0, 500).map(taskOf) : readChecks(given);
  const done = items.filter(({ state }) => state === "done").length;
  const words = field(input, "subject", "description", "title") || (items.length === 0 ? given : "");
  return {
    title:
      items.length > 0
        ? `${done} of ${amountOf(items.length, "task")} done`
        : firstLine(outcome.output || words) || "tasks",
    ...(items.length === 0 && words && { note: firstLine(words) }),
    blocks:
      items.length > 0
        ? [{ type: "tasks", items }]
        : printed({ ...outcome, output: outcome.output.includes("\n") ? outcome.output : "" }),
  };
};

const taskOf = (task: Fields) => ({
  state: taskStates[field(task, "status", "state")] ?? ("open" as const),
  text: field(task, "content", "step", "description", "text", "title", "subject"),
});

const readChecks = (text: string) =>
  [...text.matchAll(/^[-*] \[([^\]\n]{1,3})\] ([^\n]*)$/gm)].slice(0, 500).map(([, mark = "", words = ""]) => ({
    state: taskStates[mark.toLowerCase()] ?? ("open" as const),
    text: words,
  }));

const describeSubagent: Describe = (input, outcome) => {
  const type = field(input, "subagent_type", "agent_type", "agentType", "role");
  const task = field(input, "description", "text", "title", "prompt", "message");
  const prompt = field(input, "prompt", "message", "task");
  return {
    title: firstLine(task) || "a sub-agent",
    ...(type && { note: type }),
    blocks: [
      ...(prompt && prompt !== task ? [{ type: "markdown", text: prompt, fold: "What it was given" } as const] : []),
      ...(outcome.output.trim() ? [{ type: "markdown", text: outcome.output } as const] : []),
    ],
  };
};

const describeCommand: Describe = (input, outcome, call) => ({
  title: firstLine(
    [field(input, "skill", "command", "name") || call.name, field(input, "args", "arguments")].join(" "),
  ),
  blocks: printed(outcome),
});

const describeUnknown: Describe = (input, outcome) => {
  const entries = Object.entries(input).slice(0, 2);
  const note = entries.map(([key, value]) => `${key}: ${firstLine(plain(value), 60)}`).join(", ");
  const json = Object.keys(input).length > 0 ? (JSON.stringify(input, null, 2) ?? "") : "";
  return {
    title: "",
    ...(note && { note }),
    blocks: [...(json ? [{ type: "code", text: json, language: "json" } as const] : []), ...printed(outcome)],
  };
};

const plain = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

const describers: Partial<Record<Kind, Describe>> = {
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
