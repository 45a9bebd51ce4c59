import "server-only";
import type { PoolClient } from "pg";
import { eachInSlices } from "#lib/core/concurrency/slices";
import type { ColumnsByTrace, Finding, LedgerPart, LedgerTrace } from "#lib/ledger/part";
import {
  countTails,
  findCopying,
  findCounted,
  findRelatives,
  findRenamed,
  forget,
  recount,
} from "#lib/ledger/sql/activity";
import { readTraces } from "#lib/ledger/sql/due";
import { rollUp, sumTraces } from "#lib/ledger/sql/roll-up";
import {
  type ChangedUsage,
  deleteUsage,
  insertUsage,
  type MessageSums,
  nameFacets,
  readBefore,
  renameUsage,
  restPosition,
  settleWinners,
  sumMessages,
  type UsageBefore,
  type UsageRow,
} from "#lib/ledger/sql/usage";
import { type FoundUsage, readTraceUsage, type Used } from "#lib/ledger/usage/reading";
import { branchIn, readTotal, type Tokens, tokenNames } from "#lib/ledger/usage/shapes";
import { computePrice, type Price } from "#lib/prices/price";
import { servedAs } from "#lib/prices/tiers";

/**
 * Sums are recomputed from their rows in the same transaction, never incremented. An answer in several traces (resumed or
 * forked) counts once, in the trace that has most of it, did not copy it, and began first. A copied message counts where its
 * answer does.
 */
export const usagePart: LedgerPart<FoundUsage> = {
  findStale: findRenamed,
  begin: readTraceUsage,

  async write(tx, userId, findings) {
    const traces = findings.map(({ trace }) => trace);
    await nameFacets(tx, userId, traces);
    const removed = await deleteUsage(tx, userId, getStartPlaces(findings));
    const changes = [
      removed,
      await insertUsage(tx, userId, traces, await makeRows(tx, userId, findings)),
      await insertUsage(tx, userId, traces, await makeRemainders(tx, userId, findings)),
      await renameUsage(tx, userId, traces),
    ].flat();
    return settle(tx, userId, { findings, removed, changes, days: [] });
  },

  async remove(tx, userId, traceIds) {
    const removed = await deleteUsage(
      tx,
      userId,
      traceIds.map((id) => ({ id, from: 0 })),
    );
    const days = await forget(tx, userId, traceIds);
    return settle(tx, userId, { findings: [], removed, changes: removed, days });
  },
};

const getStartPlaces = (findings: Finding<FoundUsage>[]) => findings.map(({ trace: { id }, from }) => ({ id, from }));

/** Sessions of which only prompts are known are in no sum. */
const isPromptsOnly = ({ trace: { metadata } }: Finding<FoundUsage>) => metadata?.kind === "prompts-only";

/** @param turned traces whose copied messages may count elsewhere now @returns the days whose sums change */
async function countActivity(
  tx: PoolClient,
  userId: string,
  { findings: all, removed }: Written,
  turned: readonly string[],
): Promise<number[]> {
  const findings = all.filter((finding) => !isPromptsOnly(finding));
  const left = all.filter(isPromptsOnly).map(({ trace: { id } }) => id);
  const counted = await findCounted(
    tx,
    userId,
    findings.filter(({ from }) => from > 0).map(({ trace }) => trace.id),
  );
  const read = new Set(all.map(({ trace }) => trace.id));
  const relatives = await findRelatives(tx, userId, [...read], removed);
  const others = await readTraces(
    tx,
    userId,
    [...new Set([...turned, ...relatives])].filter((id) => !read.has(id)),
  );
  const traces = [...findings.map(({ trace }) => trace), ...others];
  const related = traces.filter(({ metadata }) => metadata?.parent ?? metadata?.continues);
  const copying = await findCopying(
    tx,
    userId,
    related.map(({ id }) => id),
  );
  const {
    grown = [],
    whole = [],
    forks = [],
  } = Object.groupBy(traces, ({ id, metadata }) => {
    if (typeof metadata?.forkedFrom === "string" || copying.has(id) || relatives.has(id)) return "forks";
    if (!read.has(id)) return "unchanged";
    return counted.has(id) ? "grown" : "whole";
  });
  if (others.length > 0) await nameFacets(tx, userId, others);
  const days = [
    ...(left.length > 0 ? await forget(tx, userId, left) : []),
    ...(whole.length > 0 ? await recount(tx, userId, whole) : []),
    ...(forks.length > 0 ? await recount(tx, userId, forks, true) : []),
    ...(grown.length > 0 ? await countTails(tx, userId, grown) : []),
  ];
  return days;
}

type Written = { findings: Finding<FoundUsage>[]; removed: ChangedUsage; changes: ChangedUsage; days: number[] };

async function settle(tx: PoolClient, userId: string, written: Written): Promise<ColumnsByTrace> {
  const { findings, changes, days } = written;
  const keys = new Set(changes.flatMap(({ key }) => key ?? []));
  const turned = await settleWinners(tx, userId, [...keys]);
  const turnedIds = [...new Set(turned.map(({ traceId }) => traceId))];
  const active = await countActivity(tx, userId, written, turnedIds);
  const touched = new Set([...days, ...active, ...changes.map(({ day }) => day), ...turned.map(({ day }) => day)]);
  await rollUp(tx, userId, [...touched]);
  const ids = [...new Set([...findings.map(({ trace }) => trace.id), ...turnedIds])];
  const sums = new Map((await sumTraces(tx, userId, ids)).map((one) => [one.id, one]));
  return new Map(
    ids.map((id) => {
      const sum = sums.get(id);
      return [
        id,
        {
          inputTokens: BigInt(sum?.input ?? 0),
          outputTokens: BigInt(sum?.output ?? 0),
          cacheReadTokens: BigInt(sum?.cacheRead ?? 0),
          cacheWrite5mTokens: BigInt(sum?.cacheWrite5m ?? 0),
          cacheWrite1hTokens: BigInt(sum?.cacheWrite1h ?? 0),
          reasoningTokens: BigInt(sum?.reasoning ?? 0),
          unpricedTokens: BigInt(sum?.unpriced ?? 0),
          tierNotPricedTokens: BigInt(sum?.tierNotPriced ?? 0),
          costNano: BigInt(sum?.cost ?? 0),
          recordedNano: sum?.recorded ? BigInt(sum.recorded) : null,
        },
      ];
    }),
  );
}

async function makeRows(tx: PoolClient, userId: string, findings: Finding<FoundUsage>[]): Promise<UsageRow[]> {
  const open = findings.filter(
    ({ from, found }) => from > 0 && found.used.some((one) => !one.at || !one.branch || !one.model),
  );
  const before = open.length > 0 ? await readBefore(tx, userId, getStartPlaces(open)) : new Map();
  const rows: UsageRow[] = [];
  const all = findings.flatMap(({ trace, found }, place) => found.used.map((used) => ({ used, trace, found, place })));
  await eachInSlices(all, ({ used, trace, found, place }) =>
    rows.push(makeRow(used, trace, place + 1, before.get(trace.id), found)),
  );
  return rows;
}

/** Some agents report usage only for a whole session. */
async function makeRemainders(tx: PoolClient, userId: string, findings: Finding<FoundUsage>[]): Promise<UsageRow[]> {
  const totals = findings.map(({ trace }) => readTotal(trace.metadata));
  const ids = findings.flatMap(({ trace: { id } }, place) => (totals[place] ? [id] : []));
  const sums = ids.length > 0 ? await sumMessages(tx, userId, ids) : new Map<string, MessageSums>();
  return findings.flatMap(({ trace, found }, place) => {
    const [total, sum] = [totals[place], sums.get(trace.id)];
    if (!total) return [];
    const tokens = { ...total };
    for (const name of tokenNames) tokens[name] = Math.max(0, total[name] - (sum?.[name] ?? 0));
    if (tokenNames.every((name) => tokens[name] === 0)) return [];
    const at = found.latest ?? sum?.at;
    return [makeRow({ ...nothingElse, position: restPosition, tokens, at }, trace, place + 1, undefined, found)];
  });
}

const nothingElse = {
  branch: undefined,
  key: undefined,
  model: undefined,
  requestId: undefined,
  serviceTier: undefined,
  speed: undefined,
  webSearches: 0,
  recordedNano: undefined,
  requests: undefined,
  isReplayed: false,
};

/** Undated usage counts at the epoch, at the prices of its upload. */
const undated = new Date(0);

function makeRow(
  used: Used,
  trace: LedgerTrace,
  place: number,
  before: UsageBefore | undefined,
  { latest }: Pick<FoundUsage, "latest">,
): UsageRow {
  const at = used.at ?? before?.at ?? trace.createdAt ?? (latest ? trace.activityAt : undated);
  const moment = new Date(Math.min(at.getTime(), trace.storedAt.getTime()));
  const model = used.model ?? before?.model ?? trace.model;
  return {
    trace: place,
    position: used.position,
    at: moment,
    model,
    branch: used.branch ?? before?.branch ?? branchIn(trace) ?? null,
    serviceTier: servedAs(used),
    ...used.tokens,
    ...computeCost(used, trace, at === undated ? trace.storedAt : moment, model),
    recordedNano: used.recordedNano ?? null,
    replayed: used.isReplayed,
    key: used.key,
  };
}

/** Requests of one answer are priced singly, if they add up to the answer. */
function computeCost(
  used: Used,
  trace: LedgerTrace,
  at: Date,
  model: string | null,
): Pick<UsageRow, "costNano" | "tierNotPriced"> {
  const all = used.tokens;
  if (model === null || sumTokens(all) === 0) return sumUp([undefined]);
  const asked = { model, source: trace.source, at, serviceTier: used.serviceTier, speed: used.speed };
  const requests = used.requests ?? [];
  const isWhole = requests.length > 0 && paidNames.every((name) => sumRequests(requests, name) === all[name]);
  if (isWhole) {
    return sumUp(
      requests.map((one, index) =>
        computePrice({ ...asked, usage: toPricedUsage(one), webSearches: index === 0 ? used.webSearches : 0 }),
      ),
    );
  }
  const price = computePrice({
    ...asked,
    usage: toPricedUsage(all),
    webSearches: used.webSearches,
    // The size of its requests is unknown, so no long-context price applies.
    ...(used.position === restPosition && { requestInputTokens: 0 }),
    ...(requests.length > 0 && { requestInputTokens: Math.max(...requests.map(sumInput)) }),
  });
  return sumUp([price]);
}

/** Null if any request has no price. */
function sumUp(prices: (Price | undefined)[]): Pick<UsageRow, "costNano" | "tierNotPriced"> {
  if (!prices.every((price) => price !== undefined)) return { costNano: null, tierNotPriced: false };
  return {
    costNano: prices.reduce((sum, { costNano }) => sum + costNano, 0n),
    tierNotPriced: prices.some(({ by }) => by.unknownTier !== undefined),
  };
}

/** Requests don't report reasoning apart from other output. */
const paidNames = tokenNames.filter((name) => name !== "reasoning");
const sumRequests = (requests: Tokens[], name: keyof Tokens) => requests.reduce((sum, one) => sum + one[name], 0);
const sumInput = ({ input, cacheRead, cacheWrite5m, cacheWrite1h }: Tokens) =>
  input + cacheRead + cacheWrite5m + cacheWrite1h;
const sumTokens = (tokens: Tokens) => sumInput(tokens) + tokens.output;

const toPricedUsage = ({ input, output, cacheRead, cacheWrite5m, cacheWrite1h, reasoning }: Tokens) => ({
  inputTokens: input,
  outputTokens: output,
  cacheReadTokens: cacheRead,
  cacheWriteTokens: cacheWrite5m + cacheWrite1h,
  cacheWrite5mTokens: cacheWrite5m,
  cacheWrite1hTokens: cacheWrite1h,
  reasoningTokens: reasoning,
});
