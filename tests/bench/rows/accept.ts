import { makeBody } from "../corpus.ts";
import { startFloorA } from "../floors.ts";
import { batch, type Context, collectGarbage, median, type Row, ratioRow, rounds, showMs } from "../measure.ts";
import { post } from "../post.ts";

/** From the first byte to the 202, compared with a minimal server that is as durable. */
export async function accept(context: Context): Promise<Row[]> {
  const { spoor } = context;
  const floor = await startFloorA(spoor.databaseUrl);
  const [owns, floors]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const body = makeBody(batch(context));
    collectGarbage();
    const startedAt = performance.now();
    await post(floor.url, body);
    const floorMs = performance.now() - startedAt;
    collectGarbage();
    const { jobId, acceptMs } = await spoor.send(body);
    await spoor.end(jobId);
    if (round === 0) continue;
    owns.push(acceptMs);
    floors.push(floorMs);
  }
  floor.stop();
  const what = "1000 × 20 to the committed 202, against floor A";
  return [ratioRow("accept", what, [median(owns), median(floors)], showMs, { max: 1.5 })];
}
