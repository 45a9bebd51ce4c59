// OpenAI's Chat Completions.
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

type Body = {
  model: string;
  stream?: boolean;
  messages?: { role: string; content: unknown; tool_call_id?: string }[];
  tools?: {
    function?: { name: string; description?: string; parameters?: { properties?: Record<string, unknown> } };
  }[];
  response_format?: unknown;
};

export const chat: Api = {
  name: "chat",
  tells: ["input", "output", "reasoning", "cacheRead"],
  read(body: Body) {
    const turns: Turn[] = [];
    const system: string[] = [];
    for (const { role, content, tool_call_id: callId } of body.messages ?? []) {
      const text = toText(content);
      if (role === "tool") addTurn(turns, "user", "", [{ callId, text, pictures: hashPictures(content) }]);
      else if (role === "user" || role === "assistant") addTurn(turns, role, text);
      else system.push(text);
    }
    const tools = (body.tools ?? []).map(({ function: tool }) => ({
      name: tool?.name ?? "",
      about: tool?.description ?? "",
      schema: tool?.parameters,
    }));
    const form = JSON.stringify(body.response_format ?? "");
    return { model: body.model, streams: body.stream === true, system: system.join("\n"), turns, tools, form };
  },
  *write(answer, streams) {
    const { model, thinking, text } = answer;
    const head = { id: `chatcmpl-${answer.id}`, created: Math.floor(Date.now() / 1000), model };
    const tool_calls = answer.calls.map(({ id, name, input }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const finish_reason = answer.isCutOff ? "length" : tool_calls.length > 0 ? "tool_calls" : "stop";
    const usage = getUsage(answer);
    if (!streams) {
      const message = {
        role: "assistant",
        content: text ?? null,
        ...(thinking && { reasoning_content: thinking }),
        ...(tool_calls.length > 0 && { tool_calls }),
      };
      const choices = [{ index: 0, message, finish_reason }];
      return yield JSON.stringify({ ...head, object: "chat.completion", choices, usage });
    }
    const chunk = { ...head, object: "chat.completion.chunk" };
    const send = (delta: object, reason: string | null = null) =>
      event({ ...chunk, choices: [{ index: 0, delta, finish_reason: reason }] });
    yield send({ role: "assistant", content: "" });
    for (const part of thinking ? pieces(thinking) : []) yield send({ reasoning_content: part });
    for (const content of text ? heldPieces(text) : []) yield content === hold ? hold : send({ content });
    for (const [index, call] of tool_calls.entries()) yield send({ tool_calls: [{ index, ...call }] });
    yield send({}, finish_reason);
    yield event({ ...chunk, choices: [], usage });
    yield event("[DONE]");
  },
  failure: (status) => ({ error: { type: "server_error", code: null, message: `The stand-in answers ${status}` } }),
};

function getUsage({ tokens }: Answer) {
  const prompt_tokens = tokens.input + tokens.cacheRead;
  const completion_tokens = tokens.output + tokens.reasoning;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: tokens.cacheRead },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
  };
}
