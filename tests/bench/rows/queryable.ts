import { type BenchTrace, makeBody } from "../corpus.ts";
import {
  batch,
  type Context,
  median,
  messagesEach,
  type Row,
  ratioRow,
  rounds,
  showMs,
  timeToRows,
} from "../measure.ts";

/**
 * From the first byte to committed rows: a new batch, the same again, and each of its traces with one more message. The floor
 * has the machine to itself, and so has each round: it starts when everything sent before is searchable. Ingest and indexing
 * at the same time are measured in `sustained`.
 */
export async function queryable(context: Context): Promise<Row[]> {
  const { spoor, floorB } = context;
  const times = { first: [] as number[], floor: [] as number[], again: [] as number[], grown: [] as number[] };
  const timed = (traces: BenchTrace[]) => timeToRows(spoor, makeBody(traces));
  for (let round = 0; round <= rounds; round += 1) {
    const traces = batch(context);
    await spoor.indexed();
    const floor = await floorB.copy(spoor.userId, traces);
    const first = await timed(traces);
    const again = await timed(traces);
    const grown = await timed(traces.map(grow));
    if (round === 0) continue;
    times.floor.push(floor);
    times.first.push(first);
    times.again.push(again);
    times.grown.push(grown);
  }
  const { floor, first, again, grown } = {
    floor: median(times.floor),
    first: median(times.first),
    again: median(times.again),
    grown: median(times.grown),
  };
  const against = {
    floor: "the batch from first byte to rows, against COPY (floor B)",
    first: "against the first time",
  };
  return [
    ratioRow("queryable", against.floor, [first, floor], showMs, { max: 1.8 }),
    ratioRow("re-send", `the same batch again, ${against.first}`, [again, first], showMs, { max: 0.25 }),
    ratioRow("grown", `each trace with one more message, ${against.first}`, [grown, first], showMs, { max: 0.5 }),
  ];
}

function grow(trace: BenchTrace): BenchTrace {
  const more = { position: messagesEach, role: "user", content: "one more", tokenCount: 1, createdAt: trace.createdAt };
  return { ...trace, messages: [...trace.messages, more] };
}
