import "server-only";
import type { Columns, LedgerMessage, LedgerPart } from "#lib/ledger/part";
import { deleteFindings, type FoundSecret, replaceFindings } from "#lib/ledger/sql/secrets";
import { markKeyOf } from "#lib/masking/key";
import { markOf } from "#lib/masking/masker";
import { findSecrets } from "#lib/secrets/find";

/** Of one trace no more secrets are kept. */
const maxFindings = 500;
/** The position of what is found in a trace's own fields. */
const ownFields = -1;

/** The secrets in a trace: those that were masked, by what stands for them, and those that are stored as they came. */
export const secretsPart: LedgerPart<FoundSecret[]> = {
  begin({ userId }) {
    const finder = new Finder(userId);
    return {
      see: (message: LedgerMessage) =>
        finder.see(message.position, message.createdAt, [message.content, message.metadata]),
      found: () => finder.found,
    };
  },

  async write(tx, userId, traces): Promise<Columns> {
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

class Finder {
  readonly #key: Uint8Array;
  readonly #known = new Set<string>();
  readonly found: FoundSecret[] = [];

  constructor(userId: string) {
    this.#key = markKeyOf(userId);
  }

  see(position: number, at: Date | null, texts: (string | Record<string, unknown> | null)[]): void {
    for (const value of texts) {
      if (value === null || value === "" || this.found.length >= maxFindings) continue;
      const text = typeof value === "string" ? value : JSON.stringify(value);
      for (const { kind, start, end } of findSecrets(text))
        this.#add({ position, at, kind, mark: markOf(this.#key, text.slice(start, end)), masked: false });
      if (!text.includes("[redacted:")) continue;
      for (const [, kind = "", mark = ""] of text.matchAll(/\[redacted:([a-z][a-z\d-]{0,39}):([0-9a-f]{8})\]/g))
        this.#add({ position, at, kind, mark, masked: true });
    }
  }

  #add(secret: FoundSecret): void {
    const id = `${secret.position} ${secret.kind} ${secret.mark}`;
    if (this.#known.has(id) || this.found.length >= maxFindings) return;
    this.#known.add(id);
    this.found.push(secret);
  }
}
