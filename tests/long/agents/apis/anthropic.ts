// Anthropic's Messages.
import {
  type Answer,
  type Api,
  addTurn,
  event,
  hashPictures,
  heldPieces,
  hold,
  pieces,
  type Turn,
  toText,
} from "./api.ts";

type Block = { type: string; text?: string; tool_use_id?: string; content?: unknown; is_error?: boolean };
type Body = {
  model: string;
  stream?: boolean;
  system?: unknown;
  messages?: { role: Turn["role"]; content: string | Block[] }[];
  tools?: { name: string; description?: string; input_schema?: { properties?: Record<string, unknown> } }[];
  output_config?: unknown;
  output_format?: unknown;
};

export const anthropic: Api = {
  name: "anthropic",
  tells: ["input", "output", "reasoning", "cacheRead", "cacheWrite5m", "cacheWrite1h"],
  read(body: Body) {
    const turns: Turn[] = [];
    for (const { role, content } of body.messages ?? []) {
      const blocks = typeof content === "string" ? [] : content.filter(({ type }) => type === "tool_result");
      const results = blocks.map((block) => ({
        callId: block.tool_use_id,
        text: toText(block.content),
        isError: block.is_error === true,
        pictures: hashPictures(block.content),
      }));
      addTurn(turns, role === "assistant" ? "assistant" : "user", toText(content), results);
    }
    const tools = (body.tools ?? []).map((tool) => ({
      name: tool.name,
      about: tool.description ?? "",
      schema: tool.input_schema,
    }));
    const form = JSON.stringify(body.output_config ?? body.output_format ?? "");
    return { model: body.model, streams: body.stream === true, system: toText(body.system), turns, tools, form };
  },
  *write(answer, streams) {
    const message = {
      id: `msg_${answer.id}`,
      type: "message",
      role: "assistant",
      model: answer.model,
      stop_reason: answer.isCutOff ? "max_tokens" : answer.calls.length > 0 ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: getUsage(answer),
    };
    const content = getBlocks(answer);
    if (!streams) return yield JSON.stringify({ ...message, content });
    const usage = { ...message.usage, output_tokens: 1 };
    yield named("message_start", { message: { ...message, stop_reason: null, content: [], usage } });
    for (const [index, block] of content.entries()) yield* streamBlock(block, index);
    const { stop_reason, stop_sequence } = message;
    yield named("message_delta", { delta: { stop_reason, stop_sequence }, usage: message.usage });
    yield named("message_stop", {});
  },
  failure: (status) => ({
    type: "error",
    error: { type: status === 529 ? "overloaded_error" : "api_error", message: `The stand-in answers ${status}` },
  }),
};

const named = (type: string, fields: object) => event({ type, ...fields }, type);

function getUsage({ tokens }: Answer) {
  return {
    input_tokens: tokens.input,
    output_tokens: tokens.output + tokens.reasoning,
    cache_read_input_tokens: tokens.cacheRead,
    cache_creation_input_tokens: tokens.cacheWrite5m + tokens.cacheWrite1h,
    cache_creation: {
      ephemeral_5m_input_tokens: tokens.cacheWrite5m,
      ephemeral_1h_input_tokens: tokens.cacheWrite1h,
    },
    output_tokens_details: { thinking_tokens: tokens.reasoning },
    service_tier: "standard",
  };
}

function getBlocks({ id, thinking, text, calls }: Answer) {
  const signature = Buffer.from(`signed ${id}`).toString("base64");
  return [
    ...(thinking ? [{ type: "thinking" as const, thinking, signature }] : []),
    ...(text ? [{ type: "text" as const, text }] : []),
    ...calls.map((call) => ({ type: "tool_use" as const, id: call.id, name: call.name, input: call.input })),
  ];
}

function* streamBlock(block: ReturnType<typeof getBlocks>[number], index: number) {
  const delta = (fields: object) => named("content_block_delta", { index, delta: fields });
  const empty = { text: { text: "" }, thinking: { thinking: "", signature: "" }, tool_use: { input: {} } };
  yield named("content_block_start", { index, content_block: { ...block, ...empty[block.type] } });
  if (block.type === "text") {
    for (const text of heldPieces(block.text)) yield text === hold ? hold : delta({ type: "text_delta", text });
  } else if (block.type === "thinking") {
    for (const thinking of pieces(block.thinking)) yield delta({ type: "thinking_delta", thinking });
    yield delta({ type: "signature_delta", signature: block.signature });
  } else {
    for (const partial_json of pieces(JSON.stringify(block.input))) {
      yield delta({ type: "input_json_delta", partial_json });
    }
  }
  yield named("content_block_stop", { index });
}
