import { expect, test } from "vitest";
import { JsonBytes } from "../../cli/sessions/json-bytes.ts";

test("texts of any length and script become the same UTF-8, and pieces that were kept do not change", () => {
  const texts = ["", "a", "ä", "函数 🦊", "x".repeat(400_000), "é".repeat(350_000), "🦊".repeat(900_000), "end"];
  for (let session = 0; session < 2; session++) {
    const [kept, seen]: [Buffer[], Buffer[]] = [[], []];
    const bytes = new JsonBytes((piece) => {
      seen.push(piece);
      kept.push(Buffer.from(piece));
    });
    for (const text of [...texts, ...texts.toReversed()]) bytes.add(text);
    bytes.release();
    const joined = Buffer.concat(kept).toString();
    expect(joined === [...texts, ...texts.toReversed()].join("")).toBe(true);
    expect(seen.length).toBeGreaterThan(3);
    expect(bytes.length).toBe(0);
  }
});

test("an object of any length gets a count before its fields, wherever a piece ends", () => {
  const objects = [
    "{}",
    '{"a":"ä"}',
    JSON.stringify({ long: "函数 🦊".repeat(40_000) }),
    `{"a":"${"é".repeat(600_000)}"}`,
  ];
  const kept: Buffer[] = [];
  const bytes = new JsonBytes((piece) => kept.push(Buffer.from(piece)));
  let wanted = "";
  for (const count of [0, 9, 10, 123_456, 2 ** 31]) {
    for (const object of objects) {
      bytes.addCounted(Buffer.from(',{"position":'), count, object);
      const { long, a } = JSON.parse(object);
      wanted += `,${JSON.stringify({ position: count, long, a })}`;
    }
  }
  bytes.release();
  expect(Buffer.concat(kept).toString() === wanted).toBe(true);
  expect(kept.length).toBeGreaterThan(3);
});
