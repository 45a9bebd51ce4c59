// Usage in the vocabulary of docs/trace-format.md, or as agents write it in their own files.
import { type Fields, isFields } from "#common/evidence/text";
import type { LedgerMessage } from "#lib/ledger/part";

export type Tokens = {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  reasoning: number;
};

export type ReportedUsage = {
  tokens: Tokens;
  isRaw: boolean;
  model: string | undefined;
  requestId: string | undefined;
  uuid: string | undefined;
  serviceTier: string | undefined;
  speed: string | undefined;
  webSearches: number;
  recordedNano: bigint | undefined;
  /** Copied from another session; counts only if no other session has it. */
  isReplayed: boolean;
  requests: Tokens[] | undefined;
};

export const tokenNames = ["input", "output", "cacheRead", "cacheWrite5m", "cacheWrite1h", "reasoning"] as const;

const maxCount = 2_147_483_647;
/** Higher values are not a plausible cost. */
const maxUsd = 1e7;
const maxText = 512;

const toFields = (value: unknown): Fields => (isFields(value) ? value : {});
const toText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= maxText && !value.includes("\0") ? value : undefined;

function toCount(...values: unknown[]): number {
  for (const value of values) {
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) return Math.min(Math.round(value), maxCount);
  }
  return 0;
}

const readByModels = new Set(["user", "tool", "system", "developer"]);

export function readReportedUsage({ role, metadata, tokenCount }: LedgerMessage): ReportedUsage | undefined {
  const own = metadata ?? {};
  const isReplayed = own.replayed === true;
  if (isReplayed && !isFields(own.copiedUsage)) return undefined;
  const inner = toFields(isFields(own.message) ? own.message : own.payload);
  const usage = isReplayed ? toFields(own.copiedUsage) : [own.usage, inner.usage].find(isFields);
  const known = usage && (vocabulary(usage) ?? agents(usage));
  // For an unknown shape, only the message's own token count is used.
  const isKnown = known !== undefined && (isVocabulary(usage ?? {}) || !isNothing(known));
  const side = role !== null && readByModels.has(role) ? "input" : "output";
  const tokens = isKnown ? known : { ...none, [side]: toCount(tokenCount) };
  const recordedNano = toNano(own.costUsd ?? own.costUSD);
  if (recordedNano === undefined && isNothing(tokens)) return undefined;
  return {
    tokens,
    isRaw: usage !== undefined && !isVocabulary(usage),
    model: toText(own.model) ?? toText(inner.model),
    requestId: toText(own.requestId) ?? toText(inner.id),
    uuid: toText(own.uuid),
    serviceTier: toText(own.serviceTier) ?? toText(usage?.service_tier),
    speed: toText(own.speed) ?? toText(usage?.speed),
    webSearches: toCount(own.webSearches, toFields(usage?.server_tool_use).web_search_requests),
    recordedNano,
    isReplayed,
    requests: requestsIn(own.requests ?? usage?.iterations),
  };
}

/** An answer with more requests is priced as one. */
const maxRequests = 50;

/** Claude Code's files list requests of other models and of compactions, which the answer's totals leave out. */
function requestsIn(list: unknown): Tokens[] | undefined {
  if (!Array.isArray(list) || list.length < 2 || list.length > maxRequests || !list.every(isFields)) return undefined;
  const own = list.filter(({ type }) => type === undefined || type === "message");
  return own.length < 2 ? undefined : own.map((one) => vocabulary(one) ?? agents(one));
}

export function modelIn({ metadata }: Pick<LedgerMessage, "metadata">): string | undefined {
  const own = metadata ?? {};
  return toText(own.model) ?? toText(toFields(isFields(own.message) ? own.message : own.payload).model);
}

export const isAddition = ({ role, metadata }: LedgerMessage, report: ReportedUsage): boolean =>
  role !== "user" &&
  isFields(report.isReplayed ? metadata?.copiedUsage : metadata?.usage) &&
  !report.isRaw &&
  report.requestId === undefined &&
  report.model === undefined;

export function readTotal(metadata: Fields | null): Tokens | undefined {
  const usage = toFields(metadata?.usage);
  return vocabulary(usage);
}

export const branchIn = ({ metadata }: Pick<LedgerMessage, "metadata">): string | undefined =>
  toText(metadata?.branch) ?? toText(metadata?.gitBranch);

const none: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, reasoning: 0 };

const isNothing = (tokens: Tokens) => tokenNames.every((name) => tokens[name] === 0);

const isVocabulary = (usage: Fields) => vocabularyNames.some((name) => typeof usage[name] === "number");
const vocabularyNames = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWrite5mTokens",
  "cacheWrite1hTokens",
  "reasoningTokens",
];

function vocabulary(usage: Fields): Tokens | undefined {
  if (!isVocabulary(usage)) return undefined;
  return {
    input: toCount(usage.inputTokens),
    output: toCount(usage.outputTokens),
    cacheRead: toCount(usage.cacheReadTokens),
    ...writes(usage.cacheWriteTokens, usage.cacheWrite5mTokens, usage.cacheWrite1hTokens),
    reasoning: toCount(usage.reasoningTokens),
  };
}

/** Cache writes without a duration count as five minutes. */
function writes(sum: unknown, short: unknown, long: unknown): Pick<Tokens, "cacheWrite5m" | "cacheWrite1h"> {
  const hour = toCount(long);
  const rest = Math.max(0, toCount(sum) - hour - toCount(short));
  return { cacheWrite5m: Math.min(maxCount, toCount(short) + rest), cacheWrite1h: hour };
}

/** Anthropic's input excludes cached tokens; OpenAI's and Codex' includes them. */
function agents(usage: Fields): Tokens {
  const created = toFields(usage.cache_creation);
  const [inputDetails, outputDetails] = [
    toFields(usage.input_tokens_details ?? usage.prompt_tokens_details),
    toFields(usage.output_tokens_details ?? usage.completion_tokens_details),
  ];
  const input = toCount(usage.input_tokens, usage.prompt_tokens);
  const included = toCount(inputDetails.cached_tokens, usage.cached_input_tokens, usage.cached_tokens);
  return {
    input: Math.max(0, input - included),
    output: toCount(usage.output_tokens, usage.completion_tokens),
    cacheRead: included || toCount(usage.cache_read_input_tokens),
    ...writes(usage.cache_creation_input_tokens, created.ephemeral_5m_input_tokens, created.ephemeral_1h_input_tokens),
    reasoning: toCount(outputDetails.reasoning_tokens, outputDetails.thinking_tokens, usage.reasoning_output_tokens),
  };
}

function toNano(usd: unknown): bigint | undefined {
  if (typeof usd !== "number" || !Number.isFinite(usd) || usd <= 0 || usd > maxUsd) return undefined;
  return BigInt(Math.round(usd * 1e9));
}
