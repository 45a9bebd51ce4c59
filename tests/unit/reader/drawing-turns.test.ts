import { expect, test, vi } from "vitest";

const { started } = vi.hoisted(() => ({ started: [] as { what: string; end: (html: string) => void }[] }));

vi.mock("node:os", () => ({ availableParallelism: () => 4 })); // two threads
vi.mock("../../../app/(app)/traces/[id]/drawing/thread.ts", () => ({
  DrawingThread: class {
    async terminate() {}
    run = (_: string, { part }: { part: string }) =>
      new Promise<string>((end) => {
        started.push({ what: part, end });
      });
  },
}));

// Another file of this process may have loaded it without the mocks.
vi.resetModules();
const onceInProcess = globalThis as { [key: symbol]: Map<string, unknown> | undefined };
onceInProcess[Symbol.for("spoor.process")]?.delete("drawing threads");
const { draw } = await import("../../../app/(app)/traces/[id]/drawing/draw.ts");

const view = { whose: { traceId: "" }, zone: "UTC" };
const ask = (userId: string, kind: "own" | "shared", part: string) =>
  draw({ userId, kind }, "body", async () => ({ messages: [], view, position: 0, part }));

test("a user has one thread of two, together with all readers of what the user shared, and they take turns", async () => {
  const all = ["1", "2", "3"].flatMap((n) => [ask("a", "shared", `shared ${n}`)]);
  all.push(ask("a", "own", "own 1"), ask("a", "own", "own 2"), ask("b", "own", "another's"));
  const next = async (count: number) => {
    await expect.poll(() => started.length).toBe(count);
    return started.at(-1)?.what;
  };
  await next(2);
  expect(started.map(({ what }) => what)).toEqual(["shared 1", "another's"]);
  started[0]?.end("drawn");
  expect(await next(3)).toBe("shared 2");
  started[2]?.end("drawn");
  expect(await next(4)).toBe("own 1");
  started[3]?.end("drawn");
  expect(await next(5)).toBe("shared 3");
  for (const { end } of started) end("drawn");
  await next(6);
  for (const { end } of started) end("drawn");
  await Promise.all(all);
});
