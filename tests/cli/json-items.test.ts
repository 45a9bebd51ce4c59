import { expect, test } from "vitest";
import { readJsonItems } from "../../cli/files/json-items.ts";
import { makeHome, writeBelow } from "./home.ts";

async function read(content: string, list: string[], isLines = false) {
  const { home } = await makeHome();
  const path = await writeBelow(home, "a.json", content);
  const items: unknown[] = [];
  const rests: unknown[] = [];
  const tooLong: number[] = [];
  const parse = (json: string) => {
    try {
      return JSON.parse(json);
    } catch {
      return { invalid: json };
    }
  };
  const isComplete = await readJsonItems(
    path,
    { list, isLines, item: (json) => items.push(parse(json)), rest: (json) => rests.push(parse(json)) },
    { tooLong: (number) => tooLong.push(number), pause: async () => {} },
  );
  return { items, rests, tooLong, isComplete };
}

test.each([
  ["[]", [], []],
  ["", [], []],
  ['\ufeff[1, "a,]", {"b":[2,{"c":"}"}]} , [3],null]', [], [1, "a,]", { b: [2, { c: "}" }] }, [3], null]],
  ['{"a":{"list":[9]},"list":[1,[2]],"b":3}', ["list"], [1, [2]]],
  ['{"v":{"x":[7],"list":[{"list":[8]}]}}', ["v", "list"], [{ list: [8] }]],
  ['{"list":{"list":[1]}}', ["list"], []],
  ['{"s":"list","t":["list",[1]],"q\\"":"\\\\","list":["\\"\\\\"]}', ["list"], ['"\\']],
  ['[{"list":[1]}]', ["list"], []],
])("%s has these elements in the list", async (json, list, expected) => {
  expect((await read(json, list)).items).toEqual(expected);
});

test("what stands around the list is handed over with an empty list", async () => {
  const { rests } = await read('\ufeff{"a":{"list":[9]},"list":[1,[2]],"b":3}\n', ["list"]);
  expect(rests).toEqual([{ a: { list: [9] }, list: [], b: 3 }]);
});

test("a value that ends too early has the elements before its end, and is told", async () => {
  expect(await read('[{"a":1},{"b"', [])).toMatchObject({ items: [{ a: 1 }], isComplete: false });
  expect(await read('{"list":[1,2],"a":"b', ["list"])).toMatchObject({ items: [1, 2], rests: [], isComplete: false });
  expect(await read("[1]", [])).toMatchObject({ isComplete: true });
});

test("lines are values of their own, and a broken one spoils no other", async () => {
  const lines = ['{"v":{"list":[1,2]}}', '{"v":{"list":[3,"cut', '{"v":{"list":[4]},"w":"\\\\"}', "no JSON", '{"v":5}'];
  const { items, rests } = await read(lines.join("\n"), ["v", "list"], true);
  expect(items).toEqual([1, 2, 3, { invalid: '"cut' }, 4]);
  expect(rests.at(0)).toEqual({ v: { list: [] } });
  expect(rests.slice(2)).toEqual([{ v: { list: [] }, w: "\\" }, { invalid: "no JSON" }, { v: 5 }]);
});

test("elements and texts that span chunks are whole, at every place where a chunk may end", async () => {
  const odd = `${"\\".repeat(3)}"`;
  for (const before of [0, 1, 2, 3, 4, 5]) {
    const values = Array.from({ length: 9 }, (_, index) => ({ index, text: `${"x".repeat(262_135)}${odd}€` }));
    const { items, rests } = await read(`${" ".repeat(before)}{"list":${JSON.stringify(values)},"end":true}`, ["list"]);
    expect(items).toEqual(values);
    expect(rests).toEqual([{ list: [], end: true }]);
  }
});

test("an element that is too long loses its end, with a note", async () => {
  const text = "y".repeat(1024 * 1024);
  const large = `[${Array.from({ length: 4 }, () => JSON.stringify({ text })).join(",")},{"text":"${text.repeat(24)}"}]`;
  const { home } = await makeHome();
  const path = await writeBelow(home, "a.json", large);
  let [count, last] = [0, ""];
  await readJsonItems(
    path,
    {
      list: [],
      item(json) {
        count++;
        last = json.slice(-80);
      },
    },
    { tooLong() {}, pause: async () => {} },
  );
  expect(count).toBe(5);
  expect(last).toMatch(/\[Spoor: 16,777,216 bytes are missing here: it is too long\.\]"\}$/);
});
