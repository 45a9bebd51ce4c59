import {
  batch,
  type Context,
  median,
  messagesEach,
  type Row,
  ratioRow,
  showRate,
  sustain,
  traceCount,
} from "../measure.ts";

const seconds = 60;

/** The rate of four clients at once, until the queue is empty. */
export async function sustained(context: Context): Promise<Row[]> {
  const { spoor, floorB } = context;
  const floorTimes: number[] = [];
  for (let round = 0; round < 5; round += 1) floorTimes.push(await floorB.copy(spoor.userId, batch(context)));
  const floor = (traceCount * messagesEach * 1000) / median(floorTimes);
  const own = await sustain(context, seconds);
  const what = `4 clients for ${seconds} s until the queue is empty, against floor B`;
  return [ratioRow("sustained", what, [own, floor], showRate, { min: 0.6 })];
}

/** The same with a million messages stored. */
export async function million(context: Context): Promise<Row[]> {
  const part = 20;
  await context.spoor.clear();
  const empty = await sustain(context, part);
  while ((await context.spoor.messageCount()) < 1_000_000) await sustain(context, 10);
  const full = await sustain(context, part);
  const what = "sustained rate with 1 M messages stored, against an empty database";
  return [ratioRow("million", what, [full, empty], showRate, { min: 0.85 })];
}
