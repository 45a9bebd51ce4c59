import { expect, test, vi } from "vitest";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";

test("a value is made once in a process, also where another copy of the module asks for it", async () => {
  const make = vi.fn(() => ({ count: 0 }));
  oncePerProcess("of this test", make).count += 1;
  const copy = await import(
    /* @vite-ignore */ `${import.meta.dirname}/../../../lib/core/concurrency/once-per-process.ts?copy`
  );
  expect(copy.oncePerProcess).not.toBe(oncePerProcess);
  expect(copy.oncePerProcess("of this test", make)).toEqual({ count: 1 });
  expect(make).toHaveBeenCalledOnce();
  expect(oncePerProcess("undefined of this test", () => undefined)).toBeUndefined();
});
