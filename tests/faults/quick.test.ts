import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench, type Fault } from "./fault.ts";
import { processFaults } from "./processes.ts";
import { requestFaults } from "./requests.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.start({ quick: true, seed: 20_261_121 });
});
afterAll(() => bench.stop());

const quick = (faults: Fault[]) => faults.filter((fault) => fault.quick).map((fault) => [fault.title, fault] as const);

describe("a request that is at fault stores nothing of itself and harms no other", () => {
  test.for(quick(requestFaults))("%s", async ([, fault]) => {
    expect((await fault.run(bench)).outcome).not.toBe("");
  });
});

describe("a fault of a process or of storage loses nothing and writes nothing twice", () => {
  test.for(quick(processFaults))("%s", async ([, fault]) => {
    expect((await fault.run(bench)).outcome).not.toBe("");
  });
});
