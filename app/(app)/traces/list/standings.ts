import { isLive, readStanding, type Standing } from "#lib/traces/standing";

type Shown = { id: string; updatedAt: string; latestAt: string; dated: boolean };

/** Further live sessions are only marked as live. */
const maxRead = 8;

export async function readStandings(userId: string, traces: Shown[]): Promise<Map<string, Standing["waiting"]>> {
  const live = traces.filter(({ latestAt, dated }) => dated && isLive(latestAt));
  const read = await Promise.all(live.slice(0, maxRead).map((trace) => readStanding(userId, trace)));
  return new Map(live.map(({ id }, place) => [id, read[place]?.waiting ?? null]));
}
