import "server-only";
import { marks } from "#common/secrets/kinds";
import type { ColumnsByTrace, LedgerMessage, LedgerPart } from "#lib/ledger/part";
import { deleteFindings, type FoundSecret, replaceFindings } from "#lib/ledger/sql/secrets";
import { Masker } from "#lib/masking/masker";
import { makeMarkKey } from "#lib/masking/policy";

const maxFindings = 500;
const ownFields = -1;

export const secretsPart: LedgerPart<FoundSecret[]> = {
  begin({ userId }) {
    const finder = new Finder(userId);
    return {
      see: (message: LedgerMessage) =>
        finder.see(message.position, message.createdAt, [message.content, message.metadata]),
      found: () => finder.found,
    };
  },

  async write(tx, userId, traces): Promise<ColumnsByTrace> {
    await replaceFindings(
      tx,
      userId,
      traces.map(({ trace, from, found }) => ({ traceId: trace.id, from, at: trace.activityAt, found })),
      ({ title, project, metadata }) => {
        const finder = new Finder(userId);
        finder.see(ownFields, null, [title ?? "", project ?? "", metadata]);
        return finder.found;
      },
    );
    return new Map();
  },

  async remove(tx, userId, traceIds) {
    await deleteFindings(tx, userId, traceIds);
    return undefined;
  },
};

/** Searches as masking does, so that decisions apply by the same kind and mark. */
class Finder {
  readonly #key: Uint8Array;
  readonly #known = new Set<string>();
  readonly found: FoundSecret[] = [];

  constructor(userId: string) {
    this.#key = makeMarkKey(userId);
  }

  see(position: number, at: Date | null, texts: (string | Record<string, unknown> | null)[]): void {
    const policy = { stamp: "", key: this.#key, masks: true, rulings: [] };
    const masker = new Masker(policy, undefined, (kind, mark) =>
      this.#add({ position, at, kind, mark, masked: false }),
    );
    for (const value of texts) {
      if (value === null || value === "" || this.found.length >= maxFindings) continue;
      if (typeof value === "string") masker.text(value);
      else masker.value(value);
      const text = typeof value === "string" ? value : JSON.stringify(value);
      if (!text.includes("[redacted:")) continue;
      for (const [, kind = "", mark] of text.matchAll(marks))
        if (mark) this.#add({ position, at, kind, mark, masked: true });
    }
  }

  #add(secret: FoundSecret): void {
    const id = `${secret.position} ${secret.kind} ${secret.mark}`;
    if (this.#known.has(id) || this.found.length >= maxFindings) return;
    this.#known.add(id);
    this.found.push(secret);
  }
}
