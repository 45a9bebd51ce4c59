import type { LedgerMessage, LedgerTrace, TraceReader } from "#lib/ledger/part";
import {
  branchIn,
  isAddition,
  modelIn,
  type ReportedUsage,
  readReportedUsage,
  type Tokens,
  tokenNames,
} from "#lib/ledger/usage/shapes";

/** `at`, `branch` and `model` are undefined if only earlier messages contain them. */
export type Used = Omit<ReportedUsage, "isRaw" | "uuid"> & {
  position: number;
  at: Date | undefined;
  branch: string | undefined;
  key: string | undefined;
};

export type FoundUsage = { used: Used[]; latest: Date | undefined };

/** In these, one id is shared by all calls that a prompt led to. */
const withSeveralCalls = new Set(["cursor", "copilot-cli", "vscode-copilot"]);

/** Other agents cut times to whole seconds. */
const withMilliseconds = new Set(["opencode", "kilo", "mimocode"]);

/** Parallel requests interleave their lines; this many may be open, and this many of one id are compared. */
const maxAtOnce = 8;

type Reported = Used & Pick<ReportedUsage, "isRaw" | "uuid"> & { last: number; reportedAt: Date | null };

export function readTraceUsage(trace: LedgerTrace): TraceReader<FoundUsage> {
  const isSeveral = withSeveralCalls.has(trace.source);
  const used: Reported[] = [];
  const byRequest = new Map<string, Reported[]>();
  const branches: { first?: string; now?: string } = {};
  const own = branchIn(trace);
  let latest: Date | undefined;
  let model: string | undefined;
  let open: Reported | undefined;

  function joins(one: Reported, report: ReportedUsage, position: number): boolean {
    if (!join(one, report)) return false;
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
    const report = readReportedUsage(message);
    if (!report) return;
    if (open && isAddition(message, report) && joins(open, report, message.position)) return;
    const known = report.requestId === undefined || isSeveral ? undefined : byRequest.get(report.requestId);
    if (known?.some((one) => joins(one, report, message.position))) return;
    const one = {
      ...report,
      model: report.model ?? model,
      position: message.position,
      last: message.position,
      at: message.createdAt ?? latest,
      reportedAt: message.createdAt,
      branch: branches.now,
      key: undefined,
    };
    used.push(one);
    open = one.requestId === undefined || isSeveral || isOutputOnly(one.tokens) ? undefined : one;
    if (report.requestId !== undefined) byRequest.set(report.requestId, [...(known ?? []).slice(1 - maxAtOnce), one]);
  }

  return {
    see,
    openFrom: (position) => findAnswersStart(isSeveral ? [] : used, position),
    found() {
      // Agents name the branch at a session's end or at its beginning.
      const before = branches.now === own ? branches.first : undefined;
      return {
        latest,
        used: used.flatMap(({ isRaw: _, last: __, uuid, reportedAt, ...one }) => {
          const key =
            one.requestId === undefined
              ? makeUnnamedAnswerKey(trace, { ...one, uuid, reportedAt })
              : makeAnswerKey(one, isSeveral ? uuid : "");
          // Without a key nothing shows that the original session has it.
          return one.isReplayed && key === undefined ? [] : [{ ...one, branch: one.branch ?? before, key }];
        }),
      };
    },
  };
}

function findAnswersStart(used: Reported[], position: number): number | undefined {
  const goingOn = used.slice(-maxAtOnce).find(({ requestId }) => requestId !== undefined);
  let start = Math.min(position, goingOn?.position ?? position);
  for (const one of used.toReversed()) if (one.position < start && one.last >= start) start = one.position;
  return start < position ? start : undefined;
}

/**
 * An id shared by several calls must hide none, so the key includes the input; a copy may end within the answer, so it
 * excludes the output.
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

/** Times in whole seconds may have been cut and don't suffice. */
function makeUnnamedAnswerKey(
  { source }: LedgerTrace,
  { uuid, reportedAt, model, tokens }: Pick<Reported, "uuid" | "reportedAt" | "model" | "tokens">,
): string | undefined {
  if (!reportedAt) return undefined;
  const at = reportedAt.getTime();
  if (uuid !== undefined && uuidPattern.test(uuid)) return JSON.stringify(["", uuid, at]);
  if (isOutputOnly(tokens) || (at % 1000 === 0 && !withMilliseconds.has(source))) return undefined;
  return JSON.stringify(["", source, model ?? "", at, ...tellingCounts(tokens)]);
}

type Joined = Pick<
  ReportedUsage,
  "tokens" | "isRaw" | "model" | "recordedNano" | "webSearches" | "requests" | "isReplayed"
>;

function join(known: Joined, report: Joined): boolean {
  if (report.isReplayed !== known.isReplayed) return false;
  if (report.model !== undefined && known.model !== undefined && report.model !== known.model) return false;
  const adds = isOutputOnly(report.tokens) && !isOutputOnly(known.tokens);
  const repeats = tokenNames.every((name) => known.tokens[name] === report.tokens[name]);
  if (!adds && !repeats && !known.isRaw && !hasSameInput(known.tokens, report.tokens)) return false;
  for (const name of tokenNames) {
    const [one, other] = [known.tokens[name], report.tokens[name]];
    known.tokens[name] = adds && !known.isRaw ? one + other : Math.max(one, other);
  }
  known.requests = report.requests ?? known.requests;
  known.webSearches = Math.max(known.webSearches, report.webSearches);
  if (report.recordedNano !== undefined && !repeats)
    known.recordedNano = (known.recordedNano ?? 0n) + report.recordedNano;
  known.recordedNano ??= report.recordedNano;
  return true;
}

const inputNames = ["input", "cacheRead", "cacheWrite5m", "cacheWrite1h"] as const;
const isOutputOnly = (tokens: Tokens) => inputNames.every((name) => tokens[name] === 0);
const hasSameInput = (one: Tokens, other: Tokens) =>
  !isOutputOnly(one) && inputNames.every((name) => one[name] === other[name]);
