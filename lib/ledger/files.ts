import "server-only";
import type { PoolClient } from "pg";
import type { ColumnsByTrace, LedgerPart, LedgerTrace } from "#lib/ledger/part";
import { deleteTouches, type KeyedTouch, replaceTouches, settleTouches, sumTouches } from "#lib/ledger/sql/files";
import { getFileName } from "#lib/transcript/files/paths";
import { makeFileReader, type Touch } from "#lib/transcript/files/touches";

/** An edit in several traces counts in the one that did not copy it and began first. */
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

async function settle(tx: PoolClient, userId: string, traceIds: string[], keys: string[]): Promise<ColumnsByTrace> {
  const turned = await settleTouches(tx, userId, keys);
  return sumTouches(tx, userId, [...new Set([...traceIds, ...turned])]);
}

/** Forks of these agents give copied calls new times. */
const withNewTimes = new Set(["codex-cli"]);
/** Ids such as `edit:0` number the calls of one session, so they identify a call only with its time. */
const uniqueId = /[a-z0-9]{20}|(?=[a-z]{0,19}\d)[a-z0-9]{8}/i;
const maxIdCharacters = 512;

/** The key must be equal in another session, where the folder may differ. */
function withKeys(trace: LedgerTrace, touches: Touch[]): KeyedTouch[] {
  const numbers = new Map<string, number>();
  return touches.map((touch) => {
    const call = makeCallKey(trace, touch);
    if (call === undefined) return { ...touch, key: undefined };
    const named = JSON.stringify([...call, getFileName(touch.path)]);
    const place = `${touch.position} ${named}`;
    const number = numbers.get(place) ?? 0;
    numbers.set(place, number + 1);
    return { ...touch, key: `${named} ${number}` };
  });
}

function makeCallKey({ source }: LedgerTrace, { callId, createdAt }: Touch): unknown[] | undefined {
  const id = callId !== undefined && callId.length <= maxIdCharacters ? callId : "";
  const at = createdAt === null || withNewTimes.has(source) ? undefined : Date.parse(createdAt);
  if (id !== "" && (at !== undefined || uniqueId.test(id))) return [id, at ?? null];
  return at === undefined || at % 1000 === 0 ? undefined : ["", source, at];
}
