import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Pace } from "#lib/server/pace";

/** Keeps the event loop busy, as a page's rendering does. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("thirty costly requests at once leave the event loop to others in between", async () => {
  const pace = new Pace();
  let begun = 0;
  for (let n = 0; n < 30; n += 1) {
    pace.enter("one", () => {
      begun += 1;
      work(10);
    });
  }
  expect(begun).toBe(1);
  let turns = 0;
  while (begun < 30) {
    await sleep(1);
    turns += 1;
  }
  expect(turns).toBeGreaterThanOrEqual(30);
});

test("the networks take turns, and one has at most a hundred waiting", async () => {
  const pace = new Pace();
  const order: string[] = [];
  const enter = (network: string) => pace.enter(network, () => order.push(network));
  expect(Array.from({ length: 102 }, () => enter("many")).filter(Boolean).length).toBe(101);
  enter("one");
  while (!order.includes("one")) await sleep(5);
  expect(order).toEqual(["many", "many", "one"]);
});
