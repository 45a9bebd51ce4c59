import { operator } from "#lib/auth/audit";
import { setMasking } from "#lib/findings/rulings";
import { Masker } from "#lib/masking/masker";
import { makeBody } from "../corpus.ts";
import {
  batch,
  boundRow,
  type Context,
  collectGarbage,
  median,
  messagesEach,
  type Row,
  ratioRow,
  rounds,
  showMs,
  timeToRows,
} from "../measure.ts";

const leastSpeed = 60;
const greatestShare = 0.15;
const policy = { stamp: "", key: new Uint8Array(32), masks: true, rulings: [] };

/**
 * The look for secrets in what arrives: its speed on one core, and its share of a batch's time from the first byte to committed
 * rows. For that batches of a user who masks alternate with those of one who does not, in whose batches nothing is looked for.
 */
export async function scan(context: Context): Promise<Row[]> {
  const speed = measureSpeed(context.texts);
  const times = { masked: [] as number[], unmasked: [] as number[], shares: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const timed = { masked: 0, unmasked: 0 };
    for (const name of round % 2 ? (["masked", "unmasked"] as const) : (["unmasked", "masked"] as const)) {
      await setMasking(context.spoor.userId, name === "masked", operator);
      await context.spoor.indexed();
      timed[name] = await timeToRows(context.spoor, makeBody(batch(context)));
    }
    if (round === 0) continue;
    times.masked.push(timed.masked);
    times.unmasked.push(timed.unmasked);
    times.shares.push(1 - timed.unmasked / timed.masked);
  }
  const [masked, unmasked] = [median(times.masked), median(times.unmasked)].map(showMs);
  const share = `of a batch from first byte to rows, ${masked}, without it ${unmasked}`;
  return [
    ratioRow("scan", "the look for secrets on one core", [speed, leastSpeed], (value) => `${Math.round(value)} MB/s`, {
      min: 1,
    }),
    boundRow("scan share", share, median(times.shares), greatestShare, (value) => `${(value * 100).toFixed(1)} %`),
  ];
}

/** Looks at texts as the server does, by a masker for each trace. @returns megabytes per second */
function measureSpeed(texts: string[]): number {
  const megabytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6;
  const speeds: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    collectGarbage();
    const startedAt = performance.now();
    let masker = new Masker(policy);
    for (const [index, content] of texts.entries()) {
      if (index % messagesEach === 0) masker = new Masker(policy);
      masker.wouldMask(content);
    }
    if (round > 0) speeds.push((megabytes * 1000) / (performance.now() - startedAt));
  }
  return median(speeds);
}
