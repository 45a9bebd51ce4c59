import { expect, test } from "vitest";
import { countPixels, isDrawable, maxPicturePixels } from "#common/evidence/picture-format";
import { makePicture } from "../../cli/picture.ts";
import { makePng } from "../../support/pictures.ts";

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));
const box = (type: string, ...inside: Buffer[]) => {
  const content = Buffer.concat(inside);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4);
  return Buffer.concat([head, content]);
};
const ispe = (width: number, height: number) => {
  const size = Buffer.alloc(12);
  size.writeUInt32BE(width, 4);
  size.writeUInt32BE(height, 8);
  return box("ispe", size);
};
const avif = (...properties: Buffer[]) =>
  Buffer.concat([
    box("ftyp", bytes("avif\0\0\0\0avif")),
    box("meta", Buffer.alloc(4), box("hdlr", Buffer.alloc(24)), box("iprp", box("ipco", ...properties))),
    box("mdat", Buffer.alloc(40)),
  ]);
const gif = (frame: number[], table = [0]) =>
  bytes("GIF89a", [100, 0, 50, 0], table, [0, 0], "!\xf9\x04\0\0\0\0\0", "!\xfe\x03abc\0", ",", frame);
const exif = bytes([0xff, 0xe1, 0, 12], "\xff\xc0\0\x11\x08\0\x01\0\x01\0");
const frame = (marker: number) => [0xff, marker, 0, 17, 8, 0x03, 0xe8, 0x07, 0xd0];

test.each([
  ["PNG", makePng({ width: 20, height: 10 }).bytes, 200],
  ["JPEG, behind the size of its preview", bytes([0xff, 0xd8], exif.toString("latin1"), frame(0xc2)), 2_000_000],
  [
    "JPEG, with what decoders pass over",
    bytes([0xff, 0xd8, 0xff], [0xd0], "xx", [0xff, 0, 0xff], frame(0xc0)),
    2_000_000,
  ],
  ["GIF, with extensions", gif([0, 0, 0, 0, 10, 0, 10, 0]), 5000],
  ["GIF, with a frame beyond its screen", gif([1, 0, 0, 0, 200, 0, 60, 0]), 201 * 60],
  [
    "GIF, with colours",
    bytes("GIF89a", [4, 0, 4, 0, 0x80, 0, 0], [1, 2, 3, 4, 5, 6], ",", [0, 0, 0, 0, 4, 0, 4, 0]),
    16,
  ],
  ["WebP, lossy", Buffer.from(makePicture(1, 200, "image/webp").data, "base64"), 64],
  ["WebP, lossless", bytes("RIFF....WEBPVP8L....", [0x2f, 0x63, 0x40, 0x02, 0]), 100 * 10],
  ["WebP, extended", bytes("RIFF....WEBPVP8X........", [0xe7, 3, 0, 0x0f, 0x27, 0]), 1000 * 10_000],
  ["AVIF, by its largest item", avif(ispe(512, 512), ispe(4000, 3000)), 12_000_000],
] as [string, Buffer, number][])("the pixels of a picture are counted: %s", (_, picture, pixels) => {
  expect(countPixels(picture)).toBe(pixels);
  // Nothing of a header that is cut off passes for a size.
  for (let end = 0; end < 16; end++) expect(countPixels(picture.subarray(0, end)) ?? 0).toBeLessThanOrEqual(pixels);
});

test("what tells no size, or more pixels than may be drawn, is not drawable", () => {
  expect(isDrawable(makePng({ width: 1, told: maxPicturePixels }).bytes)).toBe(true);
  const moving = Buffer.concat([avif(ispe(8, 8)), box("moov")]);
  for (const picture of [
    makePng({ width: 1, told: maxPicturePixels + 1 }).bytes,
    ...[makePng({ told: 0 }).bytes, moving, avif(), avif(ispe(30_000, 30_000)), Buffer.alloc(0)],
    ...[bytes("BM", [1, 2, 3, 4]), bytes([0xff, 0xd8, 0xff, 0xda, 0, 2]), bytes("GIF89a", Array(20).fill(0))],
    bytes("\x89PNG\r\n\x1a\n", Array(30).fill(1)),
  ])
    expect(isDrawable(picture)).toBe(false);
});
