import type { TaskState } from "#lib/transcript/message";
import { firstLine, formatQuantity } from "#lib/transcript/text";
import { type Describe, type Fields, field, isObject, printed } from "#lib/transcript/tools/describe";

export const describeQuestion: Describe = (input, outcome) => {
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

function questionText(question: Fields): string {
  const options = Array.isArray(question.options) ? question.options.slice(0, 50) : [];
  const listed = options.map((option) =>
    isObject(option)
      ? `- **${field(option, "label", "value")}** ${field(option, "description")}`
      : `- ${String(option)}`,
  );
  return [`**${field(question, "question", "header")}**`, listed.join("\n")].filter(Boolean).join("\n\n");
}

/** A longer title would fill the row. */
const maxTitle = 600;

function takeTitle(text: string): { title: string; rest: string } {
  const [line = "", ...lines] = text.trim().split("\n");
  const title = firstLine(line.replace(/^#+ |\*\*/g, ""), maxTitle);
  const whole = /^(?:#+ |\*\*)/.test(line) && !title.endsWith("…");
  return { title, rest: whole ? lines.join("\n").trim() : text };
}

export const describePlan: Describe = (input, outcome, call) => {
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

export const describeTasks: Describe = (input, outcome) => {
  const list = [input.todos, input.plan, input.items, input.tasks].find(Array.isArray)?.filter(isObject) ?? [];
  const given = field(input, "text");
  const items = list.length > 0 ? list.slice(0, 500).map(toTask) : readChecks(given);
  const done = items.filter(({ state }) => state === "done").length;
  const words = field(input, "subject", "description", "title") || (items.length === 0 ? given : "");
  return {
    title:
      items.length > 0
        ? `${done} of ${formatQuantity(items.length, "task")} done`
        : firstLine(outcome.output || words) || "tasks",
    ...(items.length === 0 && words && { note: firstLine(words) }),
    blocks:
      items.length > 0
        ? [{ type: "tasks", items }]
        : printed({ ...outcome, output: outcome.output.includes("\n") ? outcome.output : "" }),
  };
};

const parseTaskState = (mark: string): TaskState => (Object.hasOwn(taskStates, mark) && taskStates[mark]) || "open";

const toTask = (task: Fields) => ({
  state: parseTaskState(field(task, "status", "state")),
  text: field(task, "content", "step", "description", "text", "title", "subject"),
});

const readChecks = (text: string) =>
  [...text.matchAll(/^[-*] \[([^\]\n]{1,3})\] ([^\n]*)$/gm)].slice(0, 500).map(([, mark = "", words = ""]) => ({
    state: parseTaskState(mark.toLowerCase()),
    text: words,
  }));
