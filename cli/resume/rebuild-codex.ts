import type { Fields } from "../files/json.ts";
import type { ArchivedTrace, Item } from "./archived.ts";

type Surroundings = { id: string; cwd: string; version: string; now: Date };

export function rebuildCodex(trace: ArchivedTrace, items: readonly Item[], around: Surroundings): string {
  const { id, cwd, version, now } = around;
  const timestamp = now.toISOString();
  const line = (type: string, payload: Fields) => `${JSON.stringify({ timestamp, type, payload })}\n`;
  const branch = trace.metadata.branch;
  const meta = {
    ...{ id, session_id: id, forked_from_id: trace.sourceId.split("/")[0], timestamp, cwd },
    ...{ originator: "codex_cli_rs", cli_version: version, source: "cli", model_provider: null },
    ...(typeof branch === "string" && { git: { branch } }),
  };
  const custom = new Set(items.flatMap((item) => (item.type === "call" && isCustom(item.input) ? item.id : [])));
  const said = items.flatMap((item) => {
    const own = line("response_item", toItem(item, custom));
    return item.type === "user" ? [own, line("event_msg", { type: "user_message", message: item.text })] : [own];
  });
  return [line("session_meta", meta), ...said].join("");
}

function toItem(item: Item, custom: ReadonlySet<string>): Fields {
  switch (item.type) {
    case "user":
      return { type: "message", role: "user", content: [{ type: "input_text", text: item.text }] };
    case "text":
      return { type: "message", role: "assistant", content: [{ type: "output_text", text: item.text }] };
    case "call":
      return toCall(item, custom.has(item.id));
    case "result": {
      const type = custom.has(item.id) ? "custom_tool_call_output" : "function_call_output";
      return { type, call_id: item.id, output: item.output };
    }
  }
}

/** The archive stores a custom tool's text as the only field of its input. */
const isCustom = (input: Fields): boolean => Object.keys(input).length === 1 && typeof input.input === "string";

function toCall({ id, name, input }: Extract<Item, { type: "call" }>, custom: boolean): Fields {
  if (custom) return { type: "custom_tool_call", call_id: id, name, input: input.input };
  const [, namespace, bare = name] = /^([\w-]+)\.(.+)$/.exec(name) ?? [];
  return {
    ...{ type: "function_call", call_id: id, name: bare, ...(namespace && { namespace }) },
    arguments: JSON.stringify(input),
  };
}
