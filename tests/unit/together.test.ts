import { describe, expect, test } from "vitest";
import { together } from "#lib/coalesce";

/** Groups that end when the test says so. */
function watch(bounds: { max: number; atOnce: number }) {
  const groups: { items: string[]; end: () => Promise<unknown>; fail: (error: Error) => Promise<unknown> }[] = [];
  const ask = together<string, string>((group) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    groups.push({
      items: group.map(({ item }) => item),
      end: () => {
        for (const { item, resolve: tell } of group) tell(item.toUpperCase());
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
  return { ask, groups, begun: () => groups.map(({ items }) => items.join("")) };
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe("calls", () => {
  test("of one turn go together, and each gets its own result", async () => {
    const { ask, groups, begun } = watch({ max: 10, atOnce: 1 });
    const results = Promise.all(["a", "b", "c"].map(ask));
    await turn();
    expect(begun()).toEqual(["abc"]);
    await groups[0]?.end();
    expect(await results).toEqual(["A", "B", "C"]);
  });

  test("that come while a group is under way make the next one, within its bound", async () => {
    const { ask, groups, begun } = watch({ max: 2, atOnce: 1 });
    const results = [ask("a")];
    await turn();
    results.push(ask("b"), ask("c"), ask("d"));
    await turn();
    expect(begun()).toEqual(["a"]);
    await groups[0]?.end();
    await groups[1]?.end();
    await groups[2]?.end();
    expect(begun()).toEqual(["a", "bc", "d"]);
    expect(await Promise.all(results)).toEqual(["A", "B", "C", "D"]);
  });

  test("are not held up by one group while another may begin", async () => {
    const { ask, groups, begun } = watch({ max: 10, atOnce: 2 });
    const stuck = ask("a");
    await turn();
    const second = ask("b");
    await turn();
    expect(begun()).toEqual(["a", "b"]);
    await groups[1]?.end();
    expect(await second).toBe("B");
    await groups[0]?.end();
    expect(await stuck).toBe("A");
  });

  test("of a group that fails, and those that wait behind it, fail alike; later ones begin anew", async () => {
    const { ask, groups, begun } = watch({ max: 1, atOnce: 1 });
    const failing = Promise.allSettled([ask("a"), ask("b")]);
    await turn();
    await groups[0]?.fail(new Error("away"));
    expect(await failing).toMatchObject([{ reason: { message: "away" } }, { reason: { message: "away" } }]);
    const later = ask("c");
    await turn();
    expect(begun()).toEqual(["a", "c"]);
    await groups[1]?.end();
    expect(await later).toBe("C");
  });
});
