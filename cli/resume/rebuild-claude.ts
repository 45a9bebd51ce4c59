// Rebuilds a Claude Code session from the archive, as a fork, so that usage isn't counted twice.
import { randomUUID } from "node:crypto";
import type { Fields } from "../files/json.ts";
import type { ArchivedTrace, Item } from "./archived.ts";

type Surroundings = { id: string; cwd: string; version: string; now: Date };

const noUsage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };

export function rebuildClaude(trace: ArchivedTrace, items: readonly Item[], around: Surroundings): string {
  const { id: sessionId, cwd, version, now } = around;
  const branch = typeof trace.metadata.branch === "string" ? trace.metadata.branch : "";
  const lines: Fields[] = [];
  let parentUuid: string | null = null;
  const add = (type: "user" | "assistant", message: Fields, at: string | undefined, more: Fields = {}) => {
    const uuid: string = randomUUID();
    lines.push({
      ...{ parentUuid, isSidechain: false, userType: "external", cwd, sessionId, version, gitBranch: branch },
      ...{ type, message, ...more, uuid, timestamp: at ?? trace.createdAt ?? now.toISOString() },
      forkedFrom: { sessionId: trace.sourceId, messageUuid: uuid },
    });
    parentUuid = uuid;
  };
  for (const group of groupItems(items)) {
    const [first] = group;
    if (!first) continue;
    if (first.type === "user") {
      add("user", { role: "user", content: first.text }, first.at);
    } else if (first.type === "result") {
      add("user", { role: "user", content: group.flatMap(toResultBlock) }, first.at);
    } else {
      const content = group.flatMap(toAnswerBlock);
      const isCall = group.some(({ type }) => type === "call");
      add("assistant", makeAnswer(content, isCall, trace.model), first.at);
    }
  }
  if (trace.title) lines.unshift({ type: "summary", summary: trace.title, leafUuid: parentUuid });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

const makeAnswer = (content: Fields[], isCall: boolean, model: string | undefined): Fields => ({
  ...{ id: `msg_${randomUUID().replaceAll("-", "")}`, type: "message", role: "assistant" },
  ...{ model: model ?? "<synthetic>", content },
  ...{ stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null, usage: noUsage },
});

type Group = { answer: number; said: Item[]; results: Item[] };

/** The API requires all calls of a response in one message, and their results in the next. */
function groupItems(items: readonly Item[]): Item[][] {
  const groups: Group[] = [];
  const byCall = new Map<string, Group>();
  for (const item of items) {
    const last = groups.at(-1);
    if (item.type === "result") {
      byCall.get(item.id)?.results.push(item);
      continue;
    }
    const goesOn = last?.answer === item.answer && last.said[0]?.type !== "user" && item.type !== "user";
    const group = last && goesOn ? last : { answer: item.answer, said: [], results: [] };
    if (group !== last) groups.push(group);
    group.said.push(item);
    if (item.type === "call") byCall.set(item.id, group);
  }
  return groups.flatMap(({ said, results }) => [said, results]).filter((group) => group.length > 0);
}

function toAnswerBlock(item: Item): Fields[] {
  if (item.type === "text") return [{ type: "text", text: item.text }];
  return item.type === "call" ? [{ type: "tool_use", id: item.id, name: item.name, input: item.input }] : [];
}

const toResultBlock = (item: Item): Fields[] =>
  item.type === "result"
    ? [{ type: "tool_result", tool_use_id: item.id, content: item.output, ...(item.isError && { is_error: true }) }]
    : [];
