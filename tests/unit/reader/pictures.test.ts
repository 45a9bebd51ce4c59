import { describe, expect, test } from "vitest";
import type { ReaderMessage } from "#lib/transcript/message";
import { readReferences, type ShownPicture } from "../../../lib/transcript/pictures";
import { message, render } from "./rendering.ts";

const picture = (n: number, kibibytes: number, isStored = true): ShownPicture => ({
  sha256: n.toString(16).padStart(64, "0"),
  mediaType: "image/png",
  bytes: kibibytes * 1024,
  isStored,
});
const line = (kibibytes: number, type = "image/png") => `[image: ${type}, ${kibibytes} KiB]`;
const said = (content: string, pictures: ShownPicture[], more: Partial<ReaderMessage> = {}) =>
  render([message({ role: "user", content, pictures, ...more })]);
const alts = (html: string) => [...html.matchAll(/<img[^>]* alt="([^"]*)"/g)].map(([, alt]) => alt);

describe("a stored picture", () => {
  test("is shown below the text in place of its placeholder, in a place of one size, and is loaded late", async () => {
    const html = await said(`See this:\n${line(387)}\nand tell me`, [picture(1, 387)]);
    expect(html).toContain("See this:");
    expect(html).toContain("and tell me");
    expect(html).not.toContain("[image:");
    const src = `/api/traces/018f3c1e-0000-7000-8000-000000000001/pictures/${picture(1, 1).sha256}`;
    expect(html).toContain(
      `<a href="${src}" data-picture=""><img src="${src}" alt="Picture 1 of 1, image/png, 387 KiB" loading="lazy" width="160" height="120">`,
    );
    expect(html.indexOf("and tell me")).toBeLessThan(html.indexOf("<img"));
  });

  test("is found by the size that its client counted, whatever type it was said to have", async () => {
    const html = await said(`${line(5, "image/webp")} ${line(3)}`, [picture(1, 4), picture(2, 3)]);
    expect(alts(html)).toEqual(["Picture 1 of 2, image/png, 4 KiB", "Picture 2 of 2, image/png, 3 KiB"]);
    expect(html).not.toContain("[image:");
  });

  test("leaves the placeholders of those that are not stored, or that nothing names", async () => {
    const html = await said([line(9000), line(7), line(7), line(2)].join("\n"), [
      picture(1, 7, false),
      picture(2, 7),
      picture(3, 2),
    ]);
    expect(alts(html)).toHaveLength(2);
    expect(html.match(/\[image: image\/png, \d+ KiB\]/g)).toEqual([line(9000), line(7)]);
  });

  test("is shown without a placeholder, too, and where nothing was said", async () => {
    expect(alts(await said("only words", [picture(1, 7)]))).toHaveLength(1);
    expect(alts(await said("", [picture(1, 7)]))).toHaveLength(1);
    expect(await said(line(7), [picture(1, 7, false)])).toContain(line(7));
  });

  test("is shown in the result of a tool, which is open, and folds into no group", async () => {
    const call = (name: string) => message({ metadata: { tool: { name, input: { path: `${name}.png` } } } });
    const result = (content: string, pictures: ShownPicture[] = []) =>
      message({ role: "tool", content, metadata: { result: { callId: "x" } }, pictures });
    const read = { name: "Read", callId: "x", input: { file_path: "a.png" } };
    const html = await render([
      message({ metadata: { tool: read } }),
      result(`It is a picture.\n${line(12)}`, [picture(1, 12)]),
      ...[1, 2, 3, 4].map(() => call("Read")),
    ]);
    const [first = ""] = html.split("</article>");
    expect(alts(first)).toEqual(["Picture 1 of 1, image/png, 12 KiB"]);
    expect(first).toContain("It is a picture.");
    expect(first).not.toContain("[image:");
    expect(first).toMatch(/<details[^>]* open=""/);
  });
});

test("what is no reference is none: anybody may have written the metadata", () => {
  const good = { sha256: "a".repeat(64), mediaType: "image/png", bytes: 1 };
  const odd = [null, 1, "x", [], {}, { ...good, sha256: "A".repeat(64) }, { ...good, sha256: "../../../etc" }];
  const more = [
    { ...good, mediaType: "image/svg+xml" },
    { ...good, bytes: -1 },
    { ...good, bytes: 6_000_000 },
  ];
  expect(readReferences({ pictures: [...odd, good, ...more] })).toEqual([good]);
  for (const pictures of [undefined, null, "x", { length: 3 }, 7]) expect(readReferences({ pictures })).toEqual([]);
  expect(readReferences(null)).toEqual([]);
});
