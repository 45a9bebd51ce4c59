import { bodyOf } from "../corpus.ts";
import { startFloorA } from "../floors.ts";
import { batch, type Context, collectGarbage, median, type Row, ratioRow, rounds, showMs } from "../measure.ts";
import { post } from "../post.ts";

/**
 * From the first byte to the 202, compared with a minimal server that is as durable: when everything that was sent before is
 * searchable, and while the worker indexes it.
 */
export async function accept(context: Context): Promise<Row[]> {
  const { spoor } = context;
  const floor = await startFloorA(spoor.databaseUrl);
  const times = {
    idle: { own: [] as number[], floor: [] as number[] },
    busy: { own: [] as number[], floor: [] as number[] },
  };
  for (let round = 0; round <= rounds; round += 1) {
    for (const state of ["idle", "busy"] as const) {
      if (state === "idle") await spoor.indexed();
      const body = bodyOf(batch(context));
      collectGarbage();
      const startedAt = performance.now();
      await post(floor.url, body);
      const floorMs = performance.now() - startedAt;
      collectGarbage();
      const { jobId, acceptMs } = await spoor.send(body);
      await spoor.end(jobId);
      if (round === 0) continue;
      times[state].own.push(acceptMs);
      times[state].floor.push(floorMs);
    }
  }
  floor.stop();
  const row = (name: string, what: string, { own, floor: floors }: typeof times.idle, max: number) =>
    ratioRow(name, what, [median(own), median(floors)], showMs, { max });
  const what = "1000 × 20 to the committed 202, against floor A";
  return [
    row("accept", what, times.idle, 1.3),
    row("accept, busy", `${what}, while the batch before is being indexed`, times.busy, 2),
  ];
}
