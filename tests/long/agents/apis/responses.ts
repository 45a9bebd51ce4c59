// OpenAI's Responses.
import {
  type Answer,
  type Api,
  addTurn,
  event,
  hashPictures,
  heldPieces,
  hold,
  type Tool,
  type Turn,
  toText,
} from "./api.ts";

type ToolJson = {
  type: string;
  name?: string;
  description?: string;
  parameters?: { properties?: Record<string, unknown> };
  tools?: ToolJson[];
};
type Item = { type?: string; role?: string; content?: unknown; call_id?: string; output?: unknown; tools?: ToolJson[] };
type Body = {
  model: string;
  stream?: boolean;
  instructions?: string;
  input?: string | Item[];
  tools?: ToolJson[];
  text?: { format?: unknown };
};

const answers = new Set(["reasoning", "function_call", "custom_tool_call", "local_shell_call"]);

export const responses: Api = {
  name: "responses",
  tells: ["input", "output", "reasoning", "cacheRead", "cacheWrite5m"],
  read(body: Body) {
    const input: Item[] = typeof body.input === "string" ? [{ role: "user", content: body.input }] : (body.input ?? []);
    const turns: Turn[] = [];
    for (const { type = "message", role, content, call_id: callId, output } of input) {
      if (type.endsWith("_output")) {
        addTurn(turns, "user", "", [{ callId, text: toText(output), pictures: hashPictures(output) }]);
      } else if (role === "assistant" || answers.has(type)) addTurn(turns, "assistant", toText(content));
      else if (role === "user") addTurn(turns, "user", toText(content));
      // A message to another agent comes back as the model wrote it; here it is not really encrypted.
      else if (type === "agent_message") addTurn(turns, "user", toText(opened(content)));
    }
    const listed = [...(body.tools ?? []), ...input.flatMap((item) => item.tools ?? [])];
    const form = JSON.stringify(body.text?.format ?? "");
    const streams = body.stream === true;
    return { model: body.model, streams, system: body.instructions ?? "", turns, tools: listTools(listed), form };
  },
  *write(answer, streams) {
    const output = listItems(answer);
    const whole = {
      id: `resp_${answer.id}`,
      object: "response",
      created_at: Math.floor(Date.now() / 1000),
      model: answer.model,
      status: answer.isCutOff ? "incomplete" : "completed",
      incomplete_details: answer.isCutOff ? { reason: "max_output_tokens" } : null,
      output,
      usage: getUsage(answer),
      error: null,
      metadata: {},
      service_tier: "default",
    };
    if (!streams) return yield JSON.stringify(whole);
    let sequence_number = 0;
    const send: Send = (type, fields) => event({ type, sequence_number: sequence_number++, ...fields }, type);
    yield send("response.created", { response: { ...whole, status: "in_progress", output: [], usage: null } });
    for (const [output_index, item] of output.entries()) {
      yield send("response.output_item.added", { output_index, item: { ...item, ...emptied(item) } });
      yield* streamItem(item, output_index, send);
      yield send("response.output_item.done", { output_index, item });
    }
    yield send(`response.${whole.status}`, { response: whole });
  },
  failure: (status) => ({
    error: {
      type: "server_error",
      code: status === 429 ? "rate_limit_exceeded" : null,
      message: `The stand-in answers ${status}`,
    },
  }),
};

const opened = (content: unknown) =>
  Array.isArray(content) ? content.map((block) => ({ text: block.encrypted_content, ...block })) : content;

type Send = (type: string, fields: object) => string;

/** Newer versions of Codex put tools into namespaces; `functions` is the one that calls do not name. */
function listTools(listed: ToolJson[], namespace?: string): Tool[] {
  return listed.flatMap((tool) =>
    tool.type === "namespace"
      ? listTools(tool.tools ?? [], tool.name === "functions" ? undefined : tool.name)
      : {
          name: tool.name ?? tool.type,
          namespace,
          isText: tool.type === "custom",
          about: tool.description ?? "",
          schema: tool.parameters,
        },
  );
}

/** The input's tokens are all of them here. */
function getUsage({ tokens }: Answer) {
  const input = tokens.input + tokens.cacheRead + tokens.cacheWrite5m;
  const output = tokens.output + tokens.reasoning;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: tokens.cacheRead, cache_write_tokens: tokens.cacheWrite5m },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: input + output,
  };
}

function listItems({ id, thinking, text, calls }: Answer) {
  const summary = [{ type: "summary_text", text: thinking ?? "" }];
  const encrypted_content = Buffer.from(`thought ${id}`).toString("base64");
  const content = [{ type: "output_text", text: text ?? "", annotations: [] }];
  const status = "completed";
  return [
    ...(thinking ? [{ type: "reasoning" as const, id: `rs_${id}`, summary, encrypted_content }] : []),
    ...(text ? [{ type: "message" as const, id: `msg_${id}`, status, role: "assistant", content }] : []),
    ...calls.map(({ id: call_id, name, namespace, input, isText }, at) =>
      isText
        ? { type: "custom_tool_call" as const, id: `ctc_${id}_${at}`, call_id, name, input: String(input), status }
        : {
            type: "function_call" as const,
            id: `fc_${id}_${at}`,
            call_id,
            name,
            ...(namespace && { namespace }),
            arguments: JSON.stringify(input),
            status,
          },
    ),
  ];
}

type Written = ReturnType<typeof listItems>[number];

const empty = { reasoning: { summary: [] }, message: { content: [] }, function_call: { arguments: "" } };
const emptied = (item: Written) => (item.type === "custom_tool_call" ? { input: "" } : empty[item.type]);

function* streamItem(item: Written, output_index: number, send: Send) {
  const at = { item_id: item.id, output_index };
  if (item.type === "function_call") {
    yield send("response.function_call_arguments.delta", { ...at, delta: item.arguments });
    yield send("response.function_call_arguments.done", { ...at, arguments: item.arguments });
  } else if (item.type === "custom_tool_call") {
    yield send("response.custom_tool_call_input.delta", { ...at, delta: item.input });
    yield send("response.custom_tool_call_input.done", { ...at, input: item.input });
  } else {
    const [name, place] =
      item.type === "message"
        ? ["output_text", { content_index: 0 }]
        : ["reasoning_summary_text", { summary_index: 0 }];
    const [part] = item.type === "message" ? item.content : item.summary;
    const kind = item.type === "message" ? "content_part" : "reasoning_summary_part";
    yield send(`response.${kind}.added`, { ...at, ...place, part: { ...part, text: "" } });
    for (const delta of heldPieces(part?.text ?? "")) {
      if (delta !== hold) yield send(`response.${name}.delta`, { ...at, ...place, delta });
      else if (item.type === "message") yield hold;
    }
    yield send(`response.${name}.done`, { ...at, ...place, text: part?.text });
    yield send(`response.${kind}.done`, { ...at, ...place, part });
  }
}
