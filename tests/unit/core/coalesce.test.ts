import { describe, expect, test } from "vitest";
import { coalesce } from "#lib/core/concurrency/coalesce";

/** Groups that settle when the test says so. */
function watch(bounds: { maxGroup: number; maxInFlight: number }) {
  const groups: { items: string[]; end: () => Promise<unknown>; fail: (error: Error) => Promise<unknown> }[] = [];
  const ask = coalesce<string, string>((group) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    groups.push({
      items: group.map(({ item }) => item),
      end: () => {
        for (const { item, resolve: settle } of group) settle(item.toUpperCase());
        resolve();
        return turn();
      },
      fail: (error) => {
        reject(error);
        return turn();
      },
    });
    return promise;
  }, bounds);
  return { ask, groups, started: () => groups.map(({ items }) => items.join("")) };
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe("coalesced calls", () => {
  test("made in one turn form a group, and each gets its own result", async () => {
    const { ask, groups, started } = watch({ maxGroup: 10, maxInFlight: 1 });
    const results = Promise.all(["a", "b", "c"].map(ask));
    await turn();
    expect(started()).toEqual(["abc"]);
    await groups[0]?.end();
    expect(await results).toEqual(["A", "B", "C"]);
  });

  test("made while a group is in flight form the next one, up to its maximum size", async () => {
    const { ask, groups, started } = watch({ maxGroup: 2, maxInFlight: 1 });
    const results = [ask("a")];
    await turn();
    results.push(ask("b"), ask("c"), ask("d"));
    await turn();
    expect(started()).toEqual(["a"]);
    await groups[0]?.end();
    await groups[1]?.end();
    await groups[2]?.end();
    expect(started()).toEqual(["a", "bc", "d"]);
    expect(await Promise.all(results)).toEqual(["A", "B", "C", "D"]);
  });

  test("do not wait for a group while another one may start", async () => {
    const { ask, groups, started } = watch({ maxGroup: 10, maxInFlight: 2 });
    const stuck = ask("a");
    await turn();
    const second = ask("b");
    await turn();
    expect(started()).toEqual(["a", "b"]);
    await groups[1]?.end();
    expect(await second).toBe("B");
    await groups[0]?.end();
    expect(await stuck).toBe("A");
  });

  test("of a failing group, and those queued behind it, all fail; later calls start again", async () => {
    const { ask, groups, started } = watch({ maxGroup: 1, maxInFlight: 1 });
    const failing = Promise.allSettled([ask("a"), ask("b")]);
    await turn();
    await groups[0]?.fail(new Error("away"));
    expect(await failing).toMatchObject([{ reason: { message: "away" } }, { reason: { message: "away" } }]);
    const later = ask("c");
    await turn();
    expect(started()).toEqual(["a", "c"]);
    await groups[1]?.end();
    expect(await later).toBe("C");
  });
});
