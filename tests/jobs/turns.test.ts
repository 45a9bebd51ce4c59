import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import {
  deleteHeartbeat,
  hasLastingWorker,
  hasWorker,
  sendHeartbeat,
  substituteId,
  takeTurn,
} from "#lib/observability/heartbeat";
import { provideOwner } from "../support/server.ts";

await provideOwner();

const ids = [1, 2, 3, 4].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const age = (seconds: number) =>
  pool().query("update process_heartbeat set seen_at = now() - make_interval(secs => $1)", [seconds]);

test("fifty processes at once never share a turn, and all turns are taken in the end", async () => {
  const taken: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const found = await Promise.all(Array.from({ length: 10 }, () => takeTurn(ids, 3)));
    taken.push(...found.filter((id) => id !== undefined));
  }
  expect(taken.toSorted()).toEqual(ids);
});

test("a turn is kept by its heartbeats, free once they stop, and free at once when it is given back", async () => {
  await age(10);
  const [kept = ""] = ids;
  await sendHeartbeat(kept, "turn");
  const others = [await takeTurn(ids, 3), await takeTurn(ids, 3), await takeTurn(ids, 3)];
  expect(others.toSorted()).toEqual(ids.slice(1));
  expect(await takeTurn(ids, 3)).toBeUndefined();
  await deleteHeartbeat(kept);
  expect(await takeTurn(ids, 3)).toBe(kept);
});

test("only a lasting worker is one that others leave uploads to", async () => {
  expect([await hasWorker(), await hasLastingWorker()]).toEqual([false, false]);
  await sendHeartbeat(substituteId);
  expect([await hasWorker(), await hasLastingWorker()]).toEqual([true, false]);
  await sendHeartbeat("00000000-0000-4000-8000-0000000000ff");
  expect(await hasLastingWorker()).toBe(true);
  await age(40);
  expect([await hasWorker(), await hasLastingWorker()]).toEqual([true, false]);
});
