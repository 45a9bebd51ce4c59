// Gemini's generateContent.
import { type Answer, type Api, addTurn, event, hashData, heldPieces, hold, type Result, type Turn } from "./api.ts";

type Part = {
  text?: string;
  thought?: boolean;
  inlineData?: unknown;
  functionResponse?: { id?: string; response?: { output?: unknown; error?: unknown }; parts?: Part[] };
};
type Schema = { properties?: Record<string, unknown> };
type Declared = { name: string; description?: string; parametersJsonSchema?: Schema; parameters?: Schema };
type Body = {
  contents?: { role?: string; parts?: Part[] }[];
  systemInstruction?: { parts?: Part[] };
  tools?: { functionDeclarations?: Declared[] }[];
  generationConfig?: { responseJsonSchema?: unknown; responseSchema?: unknown };
};

export const gemini: Api = {
  name: "gemini",
  tells: ["input", "output", "reasoning", "cacheRead"],
  read(body: Body, path) {
    const turns: Turn[] = [];
    for (const { role, parts = [] } of body.contents ?? []) {
      const text = parts.flatMap((part) => (part.text && !part.thought ? [part.text] : [])).join("\n");
      addTurn(turns, role === "model" ? "assistant" : "user", text, parts.flatMap(readResult));
    }
    const declared = (body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []);
    const tools = declared.map(({ name, description, parametersJsonSchema, parameters }) => ({
      name,
      about: description ?? "",
      schema: parametersJsonSchema ?? parameters,
    }));
    const { responseJsonSchema, responseSchema } = body.generationConfig ?? {};
    return {
      model: /models\/([^:]+):/.exec(path)?.[1] ?? "",
      streams: path.endsWith(":streamGenerateContent"),
      system: (body.systemInstruction?.parts ?? []).map((part) => part.text ?? "").join("\n"),
      turns,
      tools,
      form: JSON.stringify(responseJsonSchema ?? responseSchema ?? ""),
    };
  },
  *write(answer, streams) {
    const tail = { usageMetadata: formatUsage(answer), modelVersion: answer.model, responseId: answer.id };
    const finish = answer.isCutOff ? "MAX_TOKENS" : "STOP";
    const whole = (parts: object[], finishReason?: string) => ({
      candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }],
      ...tail,
    });
    const thoughtSignature = Buffer.from(`signed ${answer.id}`).toString("base64");
    const calls = answer.calls.map(({ id, name, input }, at) => ({
      functionCall: { id, name, args: input },
      ...(at === 0 && { thoughtSignature }),
    }));
    const thoughts = answer.thinking ? [{ text: answer.thinking, thought: true }] : [];
    if (!streams) {
      const texts = answer.text ? [{ text: answer.text }] : [];
      return yield JSON.stringify(whole([...thoughts, ...texts, ...calls], finish));
    }
    for (const thought of thoughts) yield event(whole([thought]));
    for (const text of answer.text ? heldPieces(answer.text) : [])
      yield text === hold ? hold : event(whole([{ text }]));
    for (const call of calls) yield event(whole([call]));
    yield event(whole([{ text: "" }], finish));
  },
  failure: (status) => ({ error: { code: status, status: "UNAVAILABLE", message: `The stand-in answers ${status}` } }),
};

function readResult({ functionResponse }: Part): Result[] {
  if (!functionResponse) return [];
  const { id, response = {}, parts = [] } = functionResponse;
  const said = response.output ?? response.error ?? response;
  const text = typeof said === "string" ? said : JSON.stringify(said);
  const isError = response.error !== undefined;
  return [{ callId: id, text, isError, pictures: parts.filter(({ inlineData }) => inlineData).map(hashData) }];
}

function formatUsage({ tokens }: Answer) {
  const promptTokenCount = tokens.input + tokens.cacheRead;
  return {
    promptTokenCount,
    candidatesTokenCount: tokens.output,
    thoughtsTokenCount: tokens.reasoning,
    cachedContentTokenCount: tokens.cacheRead,
    totalTokenCount: promptTokenCount + tokens.output + tokens.reasoning,
  };
}
