// Stands in for the models' APIs on loopback: plays the scripts that prompts name, and notes what it was asked and what it answered.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { anthropic } from "./apis/anthropic.ts";
import { type Answer, type Api, type Asked, hold, type Tokens } from "./apis/api.ts";
import { chat } from "./apis/chat.ts";
import { gemini } from "./apis/gemini.ts";
import { responses } from "./apis/responses.ts";
import { makeCall } from "./deeds.ts";
import { getStep, type Step, scriptIn } from "./scenes.ts";

const apis: [RegExp, Api][] = [
  [/\/messages$/, anthropic],
  [/\/responses$/, responses],
  [/\/chat\/completions$/, chat],
  [/:(?:stream)?[gG]enerateContent$/, gemini],
];

/** A request and its answer. `script` is undefined where the agent asked beside the conversation, for a title or a summary. */
export type Exchange = {
  api: Api;
  at: Date;
  asked: Asked;
  /** The request as the agent sent it. */
  body: Buffer;
  script?: string;
  side?: "title" | "summary" | "other";
  answer?: Answer;
  /** The answer did not reach the agent as a whole. */
  isCut?: boolean;
  status: number;
};

type Options = {
  folder: string;
  /** How many tokens the model's context has. */
  context: number;
  onHold: () => void;
  /** The body of a refusal, of a request that the API would not take. */
  refuse?: (body: Buffer, before: readonly Exchange[]) => unknown;
};

export async function startStandIn(options: Options) {
  const exchanges: Exchange[] = [];
  const failures = new Map<string, number>();
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy();
      if (!request.destroyed) throw error;
    });
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? "/", "http://local").pathname;
    const body = await buffer(request);
    const [, api] = apis.find(([pattern]) => pattern.test(path)) ?? [];
    if (!api) return send(response, 200, other(path));
    const asked = api.read(parse(body) as never, path);
    const exchange = { ...note(api, asked, exchanges, failures, options), body };
    const refusal = options.refuse?.(body, exchanges);
    exchanges.push(refusal ? { ...exchange, answer: undefined, status: 400 } : exchange);
    if (refusal) send(response, 400, refusal);
    else if (exchange.answer) await write(exchange, response, options.onHold);
    else send(response, exchange.status, api.failure(exchange.status), { "retry-after": "1" });
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What comes next in the conversation, by what was answered since the prompt that names the script. */
function note(
  api: Api,
  asked: Asked,
  before: Exchange[],
  failures: Map<string, number>,
  options: Options,
): Omit<Exchange, "body"> {
  const at = new Date();
  const named = asked.turns.findLastIndex(({ role, text }) => role === "user" && scriptIn(text));
  const script = scriptIn(asked.turns[named]?.text ?? "") ?? before.findLast((one) => one.script)?.script ?? "plain";
  const side = getSide(asked);
  const isSummed = before.some((one) => one.side === "summary");
  const answered = asked.turns.slice(named + 1).filter(({ role }) => role === "assistant").length;
  const step: Step = side ? sideStep(side, asked) : getStep(script, isSummed ? Number.POSITIVE_INFINITY : answered);
  const base = { api, at, asked, ...(side ? { side } : { script }) };
  const key = `${script} ${answered}`;
  const failed = failures.get(key) ?? 0;
  if (!side && step.fails && failed < step.fails.times) {
    failures.set(key, failed + 1);
    return { ...base, status: step.fails.status };
  }
  const number = before.length + 1;
  const id = `${number}x${at.getTime().toString(36)}`;
  const wanted = (step.deeds ?? []).flatMap((deed) => makeCall(deed, asked.tools, options.folder) ?? []);
  // Cline ends with a call, and not with a text.
  const end = asked.tools.find(({ name }) => name === "attempt_completion");
  const isEnd = end && !side && wanted.length === 0 && step.text && !step.holds;
  const calls = isEnd ? [{ name: end.name, input: { result: step.text } }] : wanted;
  const made: Answer = {
    ...{ id, model: asked.model, thinking: step.thinking, text: isEnd ? undefined : step.text },
    calls: calls.map((call, index) => ({ id: `call_${id}_${index}`, ...call })),
    tokens: getTokens(number, step, options.context),
    isCutOff: step.isCutOff,
  };
  return { ...base, status: 200, answer: made, isCut: step.holds };
}

/** Each answer has other numbers, so that a sum tells which are in it. */
function getTokens(number: number, step: Step, context: number): Tokens {
  return {
    input: 100 + number + (step.isFull ? Math.floor(context * 0.97) - 8000 : 0),
    output: 40 + 3 * number,
    reasoning: step.thinking ? 7 + number : 0,
    cacheRead: 1000 * number,
    cacheWrite5m: 10 + number,
    cacheWrite1h: 20 + 2 * number,
  };
}

export const sideTexts = {
  title: "A title by the stand-in",
  summary: "<summary>A summary by the stand-in.</summary>",
  other: "Noted.",
};

/** A title is asked for as a text or as JSON. */
const sideStep = (side: NonNullable<Exchange["side"]>, { form }: Asked): Step =>
  side === "title" && form.includes("title")
    ? { text: JSON.stringify({ title: sideTexts.title }) }
    : { text: sideTexts[side] };

const sums =
  /detailed summary of|CONTEXT CHECKPOINT|state_snapshot|summarize (?:the|our|this) conversation|context checkpoint|structured summary|summary of (?:the|our) conversation/i;

/** What an agent asks beside the conversation. */
function getSide({ system, turns, tools, form }: Asked): Exchange["side"] {
  const last = turns.findLast(({ role }) => role === "user")?.text ?? "";
  if (sums.test(last) || (tools.length === 0 && sums.test(system))) return "summary";
  // A question that no prompt asked, behind an answer that ended a turn.
  const now = turns.at(-1);
  if (tools.length > 0 && now?.role === "user" && now.results.length === 0 && !scriptIn(now.text)) return "other";
  if (tools.length > 0) return undefined;
  return /title|topic/i.test(`${system}\n${last}\n${form}`) ? "title" : "other";
}

async function write(exchange: Exchange, response: ServerResponse, onHold: () => void): Promise<void> {
  const { api, asked, answer } = exchange;
  if (!answer) return;
  const holds = exchange.isCut;
  response.writeHead(200, { "content-type": asked.streams ? "text/event-stream" : "application/json" });
  for (const piece of api.write(answer, asked.streams)) {
    if (piece !== hold) response.write(piece);
    else if (holds) {
      await sleep(1000); // agents write what they had before a moment later
      onHold();
      await once(response, "close");
      return;
    }
    if (response.destroyed) exchange.isCut = true;
  }
  response.end();
}

/** What agents ask before the first request. */
function other(path: string): unknown {
  if (path.endsWith("/count_tokens")) return { input_tokens: 1234 };
  if (path.endsWith(":countTokens")) return { totalTokens: 1234 };
  const ids = ["claude-sonnet-4-5", "gpt-6-sol", "gpt-5.2", "qwen3-coder-plus", "gemini-2.5-pro"];
  return { object: "list", data: ids.map((id) => ({ id, object: "model", type: "model", display_name: id })) };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
