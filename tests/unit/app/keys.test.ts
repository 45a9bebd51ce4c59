import { afterEach, expect, test } from "vitest";
import { addKeys, knownKeys, readKey } from "../../../app/components/shell/keys.tsx";

const pressed: string[] = [];
const remove: (() => void)[] = [];

/** Registers keys that note themselves under a name. */
function provide(title: string, ...keys: string[]) {
  const bindings = keys.map((key) => ({ keys: key, does: key, run: () => pressed.push(`${title} ${key}`) }));
  remove.push(addKeys({ title, bindings }));
}

/** Presses keys one after the other. @returns what ran */
function press(...keys: string[]): string[] {
  pressed.length = 0;
  let begun = "";
  for (const key of keys) {
    const read = readKey(begun, key);
    begun = read.begun;
    read.binding?.run();
  }
  return [...pressed];
}

afterEach(() => {
  for (const one of remove.splice(0)) one();
});

test("a sequence runs at its last key, and any other key ends it and is handled on its own", () => {
  provide("all", "g t", "g u", "j", "?");
  expect(press("g", "u", "j")).toEqual(["all g u", "all j"]);
  expect(press("g", "j", "t")).toEqual(["all j"]);
  expect(press("g", "g", "t")).toEqual(["all g t"]);
  expect(press("x", "Enter")).toEqual([]);
});

test("a page's own key overrides the same key of every page, until the page is left", () => {
  provide("all", "u");
  provide("reader", "u", "j");
  expect(press("u", "j")).toEqual(["reader u", "reader j"]);
  expect(knownKeys().map(({ title }) => title)).toEqual(["reader", "all"]);
  remove.pop()?.();
  expect(press("u", "j")).toEqual(["all u"]);
});
