/** SVG is excluded: it can contain more than a picture. */
const formats = {
  "image/png": (head: string) => head.startsWith("\x89PNG\r\n\x1a\n"),
  "image/jpeg": (head: string) => head.startsWith("\xff\xd8\xff"),
  "image/gif": (head: string) => /^GIF8[79]a/.test(head),
  "image/webp": (head: string) => head.startsWith("RIFF") && head.startsWith("WEBP", 8),
};

export type PictureType = keyof typeof formats;
export const pictureTypes = Object.keys(formats) as [PictureType, ...PictureType[]];

export function findPictureType(bytes: Buffer): PictureType | undefined {
  const head = bytes.toString("latin1", 0, 12);
  return pictureTypes.find((type) => formats[type](head));
}

/** A browser takes four bytes for each pixel, and a header of a few bytes can declare gigabytes. */
export const maxPicturePixels = 50_000_000;

type Size = [width: number, height: number];

const bigEndian = (bytes: Buffer, at: number, length: number): number =>
  Array.from({ length }, (_, i) => bytes[at + i] ?? 0).reduce((sum, byte) => sum * 256 + byte, 0);
const littleEndian = (bytes: Buffer, at: number, length: number): number =>
  Array.from({ length }, (_, i) => bytes[at + i] ?? 0).reduceRight((sum, byte) => sum * 256 + byte, 0);
const textAt = (bytes: Buffer, at: number) => bytes.toString("latin1", at, at + 4);

/** Decides by the first bytes alone, as browsers do. */
function readSize(bytes: Buffer): Size | undefined {
  switch (findPictureType(bytes)) {
    case "image/png":
      return textAt(bytes, 12) === "IHDR" ? [bigEndian(bytes, 16, 4), bigEndian(bytes, 20, 4)] : undefined;
    case "image/jpeg":
      return sizeOfJpeg(bytes);
    case "image/gif":
      return sizeOfGif(bytes);
    case "image/webp":
      return sizeOfWebp(bytes);
    default:
      return textAt(bytes, 4) === "ftyp" ? sizeOfAvif(bytes) : undefined;
  }
}

/** No browser draws a picture whose header has no size. */
export function countPixels(bytes: Buffer): number | undefined {
  const size = readSize(bytes);
  return (size && size[0] * size[1]) || undefined;
}

export const isDrawable = (bytes: Buffer): boolean =>
  (countPixels(bytes) ?? Number.POSITIVE_INFINITY) <= maxPicturePixels;

/** Skips everything between segments, as decoders do. */
function sizeOfJpeg(bytes: Buffer): Size | undefined {
  for (let at = 2; at < bytes.length; ) {
    at = bytes.indexOf(0xff, at);
    if (at === -1) return undefined;
    while (bytes[at] === 0xff) at++;
    const marker = bytes[at++] ?? 0;
    if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd7)) continue;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return [bigEndian(bytes, at + 5, 2), bigEndian(bytes, at + 3, 2)];
    const length = bigEndian(bytes, at, 2);
    if (marker === 0xd9 || marker === 0xda || length < 2) return undefined;
    at += length;
  }
  return undefined;
}

/** Browsers use the larger of the screen's and the first frame's size. */
function sizeOfGif(bytes: Buffer): Size | undefined {
  const flags = bytes[10] ?? 0;
  let at = 13 + (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0);
  while (bytes[at] === 0x21) {
    at += 2;
    for (let length = bytes[at]; length; length = bytes[at]) at += length + 1;
    at++;
  }
  if (bytes[at] !== 0x2c) return undefined;
  const [screenWidth = 0, screenHeight = 0, left = 0, top = 0, width = 0, height = 0] = [
    6,
    8,
    at + 1,
    at + 3,
    at + 5,
    at + 7,
  ].map((place) => littleEndian(bytes, place, 2));
  return [Math.max(screenWidth, left + width), Math.max(screenHeight, top + height)];
}

function sizeOfWebp(bytes: Buffer): Size | undefined {
  const form = textAt(bytes, 12);
  if (form === "VP8X") return [littleEndian(bytes, 24, 3) + 1, littleEndian(bytes, 27, 3) + 1];
  if (form === "VP8 " && bigEndian(bytes, 23, 3) === 0x9d012a)
    return [littleEndian(bytes, 26, 2) & 0x3fff, littleEndian(bytes, 28, 2) & 0x3fff];
  if (form !== "VP8L" || bytes[20] !== 0x2f) return undefined;
  const packed = littleEndian(bytes, 21, 4);
  return [(packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1];
}

function sizeOfAvif(bytes: Buffer): Size | undefined {
  const boxes = boxesIn(bytes, { from: 0, to: bytes.length });
  if (boxes.some(({ type }) => type === "moov")) return undefined;
  const inside = (outer: Box[], type: string, head = 0) =>
    outer.filter((box) => box.type === type).flatMap((box) => boxesIn(bytes, { from: box.from + head, to: box.to }));
  const properties = inside(inside(inside(boxes, "meta", 4), "iprp"), "ipco");
  const found = properties.flatMap(({ type, from }): Size[] =>
    type === "ispe" ? [[bigEndian(bytes, from + 4, 4), bigEndian(bytes, from + 8, 4)]] : [],
  );
  return found.sort(([a, b], [c, d]) => c * d - a * b)[0];
}

type Box = { type: string; from: number; to: number };

/** No picture has more. */
const maxBoxes = 1000;

function boxesIn(bytes: Buffer, { from, to }: { from: number; to: number }): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= to && boxes.length < maxBoxes; ) {
    const told = bigEndian(bytes, at, 4);
    const head = told === 1 ? 16 : 8;
    const length = told === 1 ? bigEndian(bytes, at + 8, 8) : told === 0 ? to - at : told;
    if (length < head) break;
    boxes.push({ type: textAt(bytes, at + 4), from: at + head, to: Math.min(to, at + length) });
    at += length;
  }
  return boxes;
}
