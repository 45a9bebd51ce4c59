import "server-only";
import type { Columns, LedgerPart } from "#lib/ledger/part";
import { deleteTouches, replaceTouches, sumTouches } from "#lib/ledger/sql/files";
import { makeFileReader, type Touch } from "#lib/reader/files/touches";

/** Which files a trace's calls read and changed (lib/reader/files). */
export const filesPart: LedgerPart<Touch[]> = {
  begin(trace) {
    const reader = makeFileReader(trace);
    return {
      see: (message) => reader.add({ ...message, createdAt: null }),
      openFrom: reader.openFrom,
      found: reader.touches,
    };
  },

  async write(tx, userId, traces): Promise<Columns> {
    await replaceTouches(
      tx,
      userId,
      traces.map(({ trace, from, found }) => ({ traceId: trace.id, from, touches: found })),
    );
    return sumTouches(
      tx,
      userId,
      traces.map(({ trace }) => trace.id),
    );
  },

  async remove(tx, userId, traceIds) {
    await deleteTouches(tx, userId, traceIds);
    return undefined;
  },
};
