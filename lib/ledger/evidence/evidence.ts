import "server-only";
import type { PoolClient } from "pg";
import { settleEvidence } from "#lib/ledger/evidence/copies";
import { addRecorded, EvidenceReading, Findings, toCommit } from "#lib/ledger/evidence/reading";
import type { ColumnsByTrace, Finding, LedgerPart } from "#lib/ledger/part";
import { deleteEvidence, type EvidenceRows, readEvidence, replaceEvidence } from "#lib/ledger/sql/evidence";

/** A commit in several traces counts in the one that did not copy it and began first. */
export const evidencePart: LedgerPart<Findings> = {
  begin() {
    const reading = new EvidenceReading();
    return {
      see: (message) => reading.see(message),
      openFrom: () => reading.openFrom(),
      found: () => reading.findings,
    };
  },

  async write(tx: PoolClient, userId: string, traces: Finding<Findings>[]): Promise<ColumnsByTrace> {
    const stored = await readEvidence(
      tx,
      userId,
      traces.map(({ trace }) => trace.id),
    );
    const wanted = new Map(traces.map((one) => [one.trace.id, makeRows(one, stored.get(one.trace.id))]));
    await settleEvidence(tx, userId, await replaceEvidence(tx, userId, stored, wanted));
    return new Map();
  },

  async remove(tx, userId, traceIds) {
    await settleEvidence(tx, userId, await deleteEvidence(tx, userId, traceIds));
    return undefined;
  },
};

/** The result must not depend on how a trace was split into uploads. */
function makeRows({ trace, from, found }: Finding<Findings>, stored?: EvidenceRows): EvidenceRows {
  const all = new Findings();
  const isProved = ({ position, evidence }: { position: number | null; evidence: string }) =>
    position !== null && position < from && evidence !== "client";
  for (const row of stored?.branches.filter(isProved) ?? []) all.branches.set(row.branch, row);
  for (const row of stored?.commits.filter(isProved) ?? []) all.commits.push({ ...row });
  for (const row of stored?.pullRequests.filter(isProved) ?? []) all.pullRequests.set(row.url, row);
  for (const { branch, position, evidence } of found.branches.values()) all.addBranch(branch, position, evidence);
  for (const row of found.commits) all.addCommit(toCommit(row), row);
  for (const row of found.pullRequests.values()) all.addPullRequest(row.url, row);
  for (const push of found.pushes) all.addPush(push);
  addRecorded(trace, all);
  return { branches: [...all.branches.values()], commits: all.commits, pullRequests: [...all.pullRequests.values()] };
}
