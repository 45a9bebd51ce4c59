import "server-only";
import type { PoolClient } from "pg";
import type { ColumnsByTrace, LedgerPart, LedgerTrace } from "#lib/ledger/part";
import { deleteTouches, type KeyedTouch, replaceTouches, settleTouches, sumTouches } from "#lib/ledger/sql/files";
import { getFileName } from "#lib/reader/files/paths";
import { makeFileReader, type Touch } from "#lib/reader/files/touches";

/**
 * Which files a trace's calls read and changed (lib/reader/files). What several traces have, because one was resumed or forked,
 * counts in one of them: as an answer does (lib/ledger/usage/part.ts), in one that did not copy it, and that began first.
 */
export const filesPart: LedgerPart<KeyedTouch[]> = {
  begin(trace) {
    const reader = makeFileReader(trace);
    return {
      see: (message) => reader.add({ ...message, createdAt: message.createdAt?.toISOString() ?? null }),
      openFrom: reader.openFrom,
      found: () => withKeys(trace, reader.touches()),
    };
  },

  async write(tx, userId, traces) {
    const ids = traces.map(({ trace }) => trace.id);
    const touched = traces.map(({ trace, from, found }) => ({ traceId: trace.id, from, touches: found }));
    return settle(tx, userId, ids, await replaceTouches(tx, userId, touched));
  },

  async remove(tx, userId, traceIds) {
    return settle(tx, userId, [], await deleteTouches(tx, userId, traceIds));
  },
};

/** Decides which rows count, and gives the columns of all traces whose rows changed. @param keys of rows that came or went */
async function settle(tx: PoolClient, userId: string, traceIds: string[], keys: string[]): Promise<ColumnsByTrace> {
  const turned = await settleTouches(tx, userId, keys);
  return sumTouches(tx, userId, [...new Set([...traceIds, ...turned])]);
}

/** In these, what a fork copied has new times. */
const withNewTimes = new Set(["codex-cli"]);
/** An id that no other session has. One that numbers the calls of a session, such as `edit:0`, tells only with its time. */
const uniqueId = /[a-z0-9]{20}|(?=[a-z]{0,19}\d)[a-z0-9]{8}/i;
/** A longer one is no id. */
const maxIdCharacters = 512;

/**
 * Gives each touch what is the same for it in another session: the call's id, its time and the file's name, since the folder may be
 * another one there; and where one call touched several files of a name, its number.
 */
function withKeys(trace: LedgerTrace, touches: Touch[]): KeyedTouch[] {
  const numbers = new Map<string, number>();
  return touches.map((touch) => {
    const call = keyOfCall(trace, touch);
    if (call === undefined) return { ...touch, key: undefined };
    const named = JSON.stringify([...call, getFileName(touch.path)]);
    const place = `${touch.position} ${named}`;
    const number = numbers.get(place) ?? 0;
    numbers.set(place, number + 1);
    return { ...touch, key: `${named} ${number}` };
  });
}

/** Undefined where nothing tells a call from those of other sessions. Times in whole seconds don't, without an id. */
function keyOfCall({ source }: LedgerTrace, { callId, createdAt }: Touch): unknown[] | undefined {
  const id = callId !== undefined && callId.length <= maxIdCharacters ? callId : "";
  const at = createdAt === null || withNewTimes.has(source) ? undefined : Date.parse(createdAt);
  if (id !== "" && (at !== undefined || uniqueId.test(id))) return [id, at ?? null];
  return at === undefined || at % 1000 === 0 ? undefined : ["", source, at];
}
