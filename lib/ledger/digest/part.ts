import "server-only";
import { TrivialCheck } from "#common/evidence/trivial";
import { maskForOthers } from "#common/secrets/mask";
import { eachInSlices } from "#lib/core/concurrency/slices";
import { type Fact, packFacts, summarizeFacts, unpackFacts } from "#lib/ledger/digest/facts";
import type {
  ColumnsByTrace,
  DerivedColumns,
  Finding,
  LedgerMessage,
  LedgerPart,
  LedgerTrace,
  TraceReader,
} from "#lib/ledger/part";
import {
  deleteDigests,
  findUntitled,
  readCommitSubjects,
  readDigests,
  type StoredDigest,
  writeDigests,
} from "#lib/ledger/sql/digest";
import { readOutcome } from "#lib/transcript/outcome";
import { makePairing } from "#lib/transcript/pairing";
import { chooseShortTitle } from "#lib/transcript/titles/choose-title";
import { beginningCharacters, type DerivedTitle, kindIn, TitleFinder } from "#lib/transcript/titles/derive-title";
import { describeTool } from "#lib/transcript/tools/tools";

type DigestFindings = { facts: Fact[]; tools: Set<string>; title: DerivedTitle | undefined; isTrivial: boolean };

const maxTools = { names: 64, characters: 64 };

export const digestPart: LedgerPart<DigestFindings> = {
  findStale: findUntitled,
  begin: readCourse,

  async write(tx, userId, findings): Promise<ColumnsByTrace> {
    const grown = findings.filter(({ from }) => from > 0).map(({ trace }) => trace.id);
    const before = await readDigests(tx, userId, grown);
    const all = findings.map(({ trace }) => trace.id);
    const subjects = await readCommitSubjects(tx, userId, all);
    const digests: StoredDigest[] = [];
    const columns: ColumnsByTrace = new Map();
    await eachInSlices(findings, (finding) => {
      const known = before.get(finding.trace.id);
      const facts = [...(known ? unpackFacts(known.facts, finding.from) : []), ...finding.found.facts];
      digests.push({ traceId: finding.trace.id, facts: packFacts(facts) });
      const dated = finding.trace.createdAt !== null || facts.some(({ at }) => at > 0);
      const times = dated ? { dated } : { dated, activityAt: new Date(0) };
      columns.set(finding.trace.id, {
        ...summarizeFacts(facts),
        ...times,
        ...deriveColumns(finding, known?.tools ?? null),
        shortTitle: deriveShortTitle(finding, subjects.get(finding.trace.id) ?? []),
      });
    });
    await writeDigests(tx, userId, digests);
    return columns;
  },

  async remove(tx, userId, traceIds) {
    await deleteDigests(tx, userId, traceIds);
    return undefined;
  },
};

/** A trace read from a later position has content already, and its title was made at upload. */
function deriveColumns({ from, found, trace }: Finding<DigestFindings>, known: string | null): Partial<DerivedColumns> {
  const names = new Set([...(known?.split("\n").filter(Boolean) ?? []), ...found.tools]);
  const tools = names.size > 0 ? `\n${[...names].slice(0, maxTools.names).join("\n")}\n` : null;
  const isTrivial = found.isTrivial || trace.metadata?.kind === "trivial";
  if (from > 0) return { tools, ...(!isTrivial && { trivial: false }) };
  const { title = null, rank = null } = found.title ?? {};
  return { tools, trivial: isTrivial, derivedTitle: title, titleRank: rank };
}

/** Masked before it is cut: half a secret would not be recognized. */
function deriveShortTitle({ from, found, trace }: Finding<DigestFindings>, subjects: string[]): string | null {
  const derivedTitle = from > 0 ? trace.derivedTitle : (found.title?.title ?? null);
  const title = trace.title && maskForOthers(trace.title);
  return chooseShortTitle({ title, derivedTitle }, subjects.map(maskForOthers));
}

function readCourse(_: LedgerTrace, from: number): TraceReader<DigestFindings> {
  const facts = new Map<number, Fact>();
  const tools = new Set<string>();
  const titles = new TitleFinder();
  const trivial = new TrivialCheck(false);
  const pairing = makePairing((placed, result) => {
    const fact = facts.get(placed.position);
    if (!fact || readOutcome(result).status !== "failed") return;
    if (describeTool(placed.call, result).status === "failed") fact.errors += 1;
  });
  return {
    see(message) {
      const { position, createdAt, metadata } = message;
      const isReplayed = metadata?.replayed === true; // counted in the session that it was copied from
      const at = isReplayed ? 0 : Math.floor((createdAt?.getTime() ?? 0) / 1000);
      const fact = { position, at, turns: 0, calls: 0, errors: 0 };
      facts.set(position, fact);
      for (const piece of isReplayed ? [] : pairing.add({ ...message, createdAt: null })) {
        if (piece.type === "text" && piece.kind === "user") fact.turns = 1;
        if (piece.type !== "call") continue;
        fact.calls += 1;
        if (tools.size < maxTools.names) tools.add(piece.call.name.replace(/\s+/g, " ").slice(0, maxTools.characters));
      }
      trivial.see(message);
      if (from === 0) seeTitle(titles, message);
    },
    openFrom: () => pairing.waiting()[0]?.position,
    found() {
      return { facts: [...facts.values()], tools, title: titles.result(), isTrivial: trivial.isTrivial };
    },
  };
}

function seeTitle(titles: TitleFinder, { role, content, metadata }: LedgerMessage): void {
  if (titles.isFound || (role !== "user" && role !== "assistant")) return;
  // Masked like an upload's title (lib/ingest/decode/row-title.ts).
  titles.see({ role, text: maskForOthers(content.slice(0, beginningCharacters[role])), kind: kindIn(metadata) });
}
