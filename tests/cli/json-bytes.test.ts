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
