import type { LedgerMessage, LedgerTrace, TraceReader } from "#lib/ledger/part";
import { branchIn, isAddition, modelIn, type Tokens, type Told, tokenNames, toldBy } from "#lib/ledger/usage/shapes";

/** What a message used. `at`, `branch` and `model` are undefined where only messages before the reading tell them. */
export type Used = Omit<Told, "isRaw" | "uuid"> & {
  position: number;
  at: Date | undefined;
  branch: string | undefined;
  /** What is the same for the same answer in another session; undefined where nothing tells one answer from others. */
  key: string | undefined;
};

/** `latest` is the time of the latest message that was seen. */
export type FoundUsage = { used: Used[]; latest: Date | undefined };

/** In these, one id stands for all calls that a prompt led to. */
const withSeveralCalls = new Set(["cursor", "copilot-cli", "vscode-copilot"]);

/** These always keep milliseconds: a whole second is as telling as any other time. */
const withMilliseconds = new Set(["opencode", "kilo", "mimocode"]);

/**
 * Requests that were answered at once have their lines between each other's: as many may still go on. Of one id as many answers are
 * compared with the next: it may stand for any number of them.
 */
const maxAtOnce = 8;

/** What is known of an answer while messages are read; `last` is the position of the latest message that told of it. */
type Reported = Used & Pick<Told, "isRaw" | "uuid"> & { last: number; toldAt: Date | null };

/** Reads what the messages of a trace used. */
export function readTraceUsage(trace: LedgerTrace): TraceReader<FoundUsage> {
  const isSeveral = withSeveralCalls.has(trace.source);
  const used: Reported[] = [];
  const byRequest = new Map<string, Reported[]>();
  const branches: { first?: string; now?: string } = {};
  const own = branchIn(trace);
  let latest: Date | undefined;
  let model: string | undefined;
  /** The answer that messages may still add to: the latest one since the user spoke. */
  let open: Reported | undefined;

  /** Takes a message into an answer that it repeats or continues. @returns whether it does */
  function joins(one: Reported, told: Told, position: number): boolean {
    if (!join(one, told)) return false;
    one.last = position;
    return true;
  }

  function see(message: LedgerMessage): void {
    if (message.createdAt && (!latest || message.createdAt > latest)) latest = message.createdAt;
    const branch = branchIn(message);
    if (branch !== undefined) {
      branches.first ??= branch;
      branches.now = branch;
    }
    model = modelIn(message) ?? model;
    if (message.role === "user") open = undefined;
    const told = toldBy(message);
    if (!told) return;
    if (open && isAddition(message, told) && joins(open, told, message.position)) return;
    const known = told.requestId === undefined || isSeveral ? undefined : byRequest.get(told.requestId);
    if (known?.some((one) => joins(one, told, message.position))) return;
    const one = {
      ...told,
      model: told.model ?? model,
      position: message.position,
      last: message.position,
      at: message.createdAt ?? latest,
      toldAt: message.createdAt,
      branch: branches.now,
      key: undefined,
    };
    used.push(one);
    open = one.requestId === undefined || isSeveral || isOutputOnly(one.tokens) ? undefined : one;
    if (told.requestId !== undefined) byRequest.set(told.requestId, [...(known ?? []).slice(1 - maxAtOnce), one]);
  }

  return {
    see,
    openFrom: (position) => startOfAnswers(isSeveral ? [] : used, position),
    found() {
      // Agents that name the session's branch at its end tell each one, those that name it at its beginning the others.
      const before = branches.now === own ? branches.first : undefined;
      return {
        latest,
        used: used.flatMap(({ isRaw: _, last: __, uuid, toldAt, ...one }) => {
          const key =
            one.requestId === undefined
              ? keyOfLine(trace, { ...one, uuid, toldAt })
              : makeAnswerKey(one, isSeveral ? uuid : "");
          // Nothing would tell that the session that it was copied from has it.
          return one.isReplayed && key === undefined ? [] : [{ ...one, branch: one.branch ?? before, key }];
        }),
      };
    },
  };
}

/** The position from which the last answers are seen as wholes: what is seen again would else count a part of one once more. */
function startOfAnswers(used: Reported[], position: number): number | undefined {
  const goingOn = used.slice(-maxAtOnce).find(({ requestId }) => requestId !== undefined);
  let start = Math.min(position, goingOn?.position ?? position);
  for (const one of used.toReversed()) if (one.position < start && one.last >= start) start = one.position;
  return start < position ? start : undefined;
}

/**
 * An answer's input is part of its key: an id that stands for several calls does not hide any. Its output is not, since a copy may
 * end within the answer; but where there is no input. @param more what else is told of the answer; undefined where it can't be told
 * from others
 */
function makeAnswerKey(
  { requestId, tokens }: Pick<Used, "requestId" | "tokens">,
  more: string | undefined,
): string | undefined {
  if (requestId === undefined || more === undefined) return undefined;
  return JSON.stringify([requestId, more, ...tellingCounts(tokens)]);
}

const tellingCounts = (tokens: Tokens) => (isOutputOnly(tokens) ? tokenNames : inputNames).map((name) => tokens[name]);

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-/i;

/**
 * The key of an answer without a request's id: its line's id, where that is unique, and its time; else its time, model and input. A
 * time in whole seconds tells too little where the agent may have cut it.
 */
function keyOfLine(
  { source }: LedgerTrace,
  { uuid, toldAt, model, tokens }: Pick<Reported, "uuid" | "toldAt" | "model" | "tokens">,
): string | undefined {
  if (!toldAt) return undefined;
  const at = toldAt.getTime();
  if (uuid !== undefined && uuidPattern.test(uuid)) return JSON.stringify(["", uuid, at]);
  if (isOutputOnly(tokens) || (at % 1000 === 0 && !withMilliseconds.has(source))) return undefined;
  return JSON.stringify(["", source, model ?? "", at, ...tellingCounts(tokens)]);
}

type Joined = Pick<Told, "tokens" | "isRaw" | "model" | "recordedNano" | "webSearches" | "requests" | "isReplayed">;

/**
 * Takes what another message of the same request told into what is known of it, where it is the same answer: repeated, further
 * on, or what its last line added to the first. @returns whether it is
 */
function join(known: Joined, told: Joined): boolean {
  if (told.isReplayed !== known.isReplayed) return false;
  if (told.model !== undefined && known.model !== undefined && told.model !== known.model) return false;
  const adds = isOutputOnly(told.tokens) && !isOutputOnly(known.tokens);
  const repeats = tokenNames.every((name) => known.tokens[name] === told.tokens[name]);
  if (!adds && !repeats && !known.isRaw && !hasSameInput(known.tokens, told.tokens)) return false;
  for (const name of tokenNames) {
    const [one, other] = [known.tokens[name], told.tokens[name]];
    known.tokens[name] = adds && !known.isRaw ? one + other : Math.max(one, other);
  }
  known.requests = told.requests ?? known.requests;
  known.webSearches = Math.max(known.webSearches, told.webSearches);
  if (told.recordedNano !== undefined && !repeats) known.recordedNano = (known.recordedNano ?? 0n) + told.recordedNano;
  known.recordedNano ??= told.recordedNano;
  return true;
}

const inputNames = ["input", "cacheRead", "cacheWrite5m", "cacheWrite1h"] as const;
const isOutputOnly = (tokens: Tokens) => inputNames.every((name) => tokens[name] === 0);
const hasSameInput = (one: Tokens, other: Tokens) =>
  !isOutputOnly(one) && inputNames.every((name) => one[name] === other[name]);
