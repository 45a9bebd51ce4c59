import type { Random } from "./random.ts";

/** JSON as text has it: objects may repeat a key, and `raw` is any text, valid or not. */
export type Json = { entries: [string, Json][] } | { items: Json[] } | { raw: string };

const raw = (text: string): Json => ({ raw: text });

/** A JavaScript value in this form. */
export function toJson(value: unknown): Json {
  if (Array.isArray(value)) return { items: value.map(toJson) };
  if (typeof value !== "object" || value === null) return raw(JSON.stringify(value));
  return { entries: Object.entries(value).map(([key, item]) => [key, toJson(item)]) };
}

/** Serializes it. With `random`, spaces and escapes in keys vary. */
export function write(json: Json, random?: Random): string {
  const space = () => (random?.oneIn(12) ? random.pick([" ", "\n", "\t", "\r\n  "]) : "");
  if ("raw" in json) return json.raw;
  if ("items" in json) return `[${json.items.map((item) => space() + write(item, random)).join(`${space()},`)}]`;
  const fields = json.entries.map(
    ([key, item]) => `${space()}${writeKey(key, random)}${space()}:${space()}${write(item, random)}`,
  );
  return `{${fields.join(",")}${space()}}`;
}

function writeKey(key: string, random?: Random): string {
  if (!random?.oneIn(200)) return JSON.stringify(key);
  return `"${[...key].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`;
}

/** All arrays and objects of a JSON text. */
function containers(json: Json): Exclude<Json, { raw: string }>[] {
  if ("raw" in json) return [];
  const inner = "items" in json ? json.items : json.entries.map(([, item]) => item);
  return [json, ...inner.flatMap(containers)];
}

const numbers = [
  "-1",
  "-0",
  "0.5",
  "1e3",
  "1E400",
  "1e308",
  "5e-324",
  "2147483647",
  "2147483648",
  "4294967296",
  "9007199254740993",
  "123456789012345678901234567890",
  "01",
  "+1",
  ".5",
  "1.",
  "0x10",
  "NaN",
  "-Infinity",
];
const strings = [
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\ud83d\\ude00"',
  '"\\ud83d\\u0041"',
  '"\u2028\u2029\ufeff\ufffd\uffff"',
  '"\u202e\u2066 \u200f"',
  '"e\u0301\u0327 \u{1f468}\u200d\u{1f469}"',
  '"%00%ff {{x}} \\" \' ; --"',
  '"\n"',
  '"\u0000"',
  '"\\x"',
  '"\\u12"',
  '"\\',
  '"',
  "'x'",
];
const moments = [
  "2026-02-30T00:00:00Z",
  "2024-02-29T23:59:59.999999999Z",
  "2026-11-20T08:00:00+23:59",
  "2026-11-20T08:00:00-00:00",
  "2026-11-20T08:00Z",
  "2026-11-20t08:00:00z",
  "2026-11-20T08:00:00+0230",
  "2026-11-20T08:00-11",
  "2026-11-20T08:00:00",
  "2026-11-20T08:00:60Z",
  "2026-11-20T24:00:00Z",
  "0000-01-01T00:00:00Z",
  "0001-01-01T00:00:00Z",
  "0099-12-31T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "9999-12-31T23:59:59.999-01:00",
  "+010000-01-01T00:00:00Z",
  "2026-11-20",
  "2026-11-20 08:00:00Z",
  `2026-11-20T08:00:00.${"1".repeat(200)}Z`,
];
const others = [
  "null",
  "true",
  "false",
  "undefined",
  "tru",
  "[]",
  "{}",
  "[[]]",
  '[{"a":[]}]',
  '{"":""}',
  "[,]",
  "{,}",
  "",
];
const lengths = [31, 32, 33, 64, 65, 128, 129, 256, 257, 512, 513, 4000];
const keys = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "",
  " ",
  "\u0000",
  "\ud800",
  "é",
  "0",
  "-1",
  "length",
  "then",
  "toJSON",
  "content",
  "position",
  "role",
  "tokenCount",
  "createdAt",
  "metadata",
  "messages",
  "sourceId",
  "source",
  "title",
  "replace",
  "append",
  "traces",
];

/** A value that is rarely valid where it is put. */
function oddValue(random: Random, marker: string): Json {
  const text = () => random.pick(["x", "é", "\u20ac", "\u{1f600}", '"', "\\", "\u0001"]);
  return random.pick([
    () => raw(random.pick(numbers)),
    () => raw(random.pick(strings)),
    () => raw(JSON.stringify(random.pick(moments))),
    () => raw(random.pick(others)),
    () => raw(JSON.stringify(text().repeat(random.pick(lengths)))),
    () => raw(JSON.stringify(marker)),
    () => nested(random, raw("0")),
  ])();
}

function nested(random: Random, inner: Json): Json {
  let json = inner;
  for (let depth = random.pick([1, 2, 30, 58, 59, 60, 61, 62, 63, 64, 65, 500]); depth > 0; depth -= 1) {
    json = random.oneIn(2) ? { items: [json] } : { entries: [["n", json]] };
  }
  return json;
}

const oddKey = (random: Random, marker: string) => (random.oneIn(8) ? marker : random.pick(keys));

/** Makes one change somewhere in a JSON tree, in place. */
export function mutate(json: Json, random: Random, marker: string): void {
  const place = random.pick(containers(json));
  if (!place) return;
  if ("items" in place) mutateList(place.items, random, marker);
  else mutateFields(place.entries, random, marker);
}

function mutateList(items: Json[], random: Random, marker: string): void {
  const at = random.below(items.length + 1);
  const item = items[at] ?? raw("0");
  random.pick([
    () => items.splice(at, 1),
    () => items.splice(at, 0, oddValue(random, marker)),
    () => items.splice(at, 1, oddValue(random, marker)),
    () => items.push(item),
    () => items.push(...Array.from({ length: random.below(40) }, () => item)),
    () => items.reverse(),
    () => items.splice(at, 1, nested(random, item)),
  ])();
}

function mutateFields(entries: [string, Json][], random: Random, marker: string): void {
  const at = random.below(entries.length + 1);
  const [key, item] = entries[at] ?? ["x", raw("0")];
  random.pick([
    () => entries.splice(at, 1),
    () => entries.push([oddKey(random, marker), oddValue(random, marker)]),
    () => entries.push([key, item]),
    () => entries.push([key, oddValue(random, marker)]),
    () => entries.splice(at, 1, [key, oddValue(random, marker)]),
    () => entries.splice(at, 1, [key, oddValue(random, marker)]),
    () => entries.splice(at, 1, [oddKey(random, marker), item]),
    () => entries.reverse(),
    () => entries.splice(at, 1, [key, nested(random, item)]),
  ])();
}
