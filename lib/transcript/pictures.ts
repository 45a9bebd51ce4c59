import { z } from "zod";
import { isDrawable, pictureTypes } from "#common/evidence/picture-format";
import { sha256Text } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import type { MessagePiece } from "#lib/transcript/call";
import type { Block, ReaderMessage } from "#lib/transcript/message";
import { isPlainlyMarkdown } from "#lib/transcript/said";

const placeholder =
  /^[ \t]*\[(?:image|file): [^\]\n]{1,200}, (\d{1,6}) KiB\][ \t]*\n?|\[(?:image|file): [^\]\n]{1,200}, (\d{1,6}) KiB\]/gm;

/** Clients count the data's size as written, which may exceed the picture's. */
const hasSize = ({ bytes }: ShownPicture, kibibytes: number): boolean =>
  [0, 1].includes(kibibytes - Math.ceil(bytes / 1024));

/** A picture without a placeholder goes to the last text. */
export function placePictures(pieces: MessagePiece[], { role, pictures = [] }: ReaderMessage): MessagePiece[] {
  if (!pictures.some(({ isStored }) => isStored)) return pieces;
  const left = [...pictures];
  const placed = pieces.map((piece) => withOwn(piece, left));
  const rest = left.filter(({ isStored }) => isStored);
  if (rest.length === 0) return placed;
  const last = placed.findLastIndex((piece) => piece.type === "text" || getResult(piece) !== undefined);
  if (last !== -1) return placed.map((piece, at) => (at === last ? adding(piece, rest) : piece));
  return [
    ...placed,
    { type: "text", kind: role === "user" ? "user" : "assistant", title: "", text: "", pictures: rest },
  ];
}

const getResult = (piece: MessagePiece) =>
  piece.type === "call" || piece.type === "result" ? piece.result : undefined;

/** @param left unassigned pictures; assigned ones are removed from it */
function withOwn(piece: MessagePiece, left: ShownPicture[]): MessagePiece {
  const given = piece.type === "text" ? piece.text : getResult(piece)?.output;
  if (given === undefined || !given.includes(" KiB]")) return piece;
  const own: ShownPicture[] = [];
  const text = given.replace(placeholder, (whole, line?: string, inLine?: string) => {
    const [next] = left;
    if (!next || !hasSize(next, Number(line ?? inLine))) return whole;
    left.shift();
    if (!next.isStored) return whole;
    own.push(next);
    return "";
  });
  if (own.length === 0) return piece;
  const without: MessagePiece =
    piece.type === "text"
      ? { ...piece, text }
      : piece.type === "result" || piece.type === "call"
        ? ({ ...piece, result: { ...piece.result, output: text } } as MessagePiece)
        : piece;
  return adding(without, own);
}

function adding(piece: MessagePiece, more: ShownPicture[]): MessagePiece {
  if (piece.type === "text") return { ...piece, pictures: [...(piece.pictures ?? []), ...more] };
  const result = getResult(piece);
  if (!result) return piece;
  return { ...piece, result: { ...result, pictures: [...(result.pictures ?? []), ...more] } } as MessagePiece;
}

const reference = z.object({
  sha256: sha256Text,
  mediaType: z.enum(pictureTypes),
  bytes: z.int().min(1).max(limits.pictures.bytes),
});
export type PictureReference = z.output<typeof reference>;

export type ShownPicture = PictureReference & { isStored: boolean };

export function readReferences(metadata: Record<string, unknown> | null | undefined): PictureReference[] {
  const given = metadata?.pictures;
  if (!Array.isArray(given)) return [];
  return given.slice(0, limits.pictures.perMessage).flatMap((one) => reference.safeParse(one).data ?? []);
}

/** Matches image data in Markdown or alone on a line. SVG is excluded because it can contain scripts. */
const inText =
  /!\[([^\]\n]{0,200})\]\((data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+)\)|^(data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]{100,})$/gm;

const maxImages = 50;

export function textBlocks(text: string, kind: string): Block[] {
  const type = kind === "user" && !isPlainlyMarkdown(text) ? "said" : "markdown";
  if (!text.includes("data:image/")) return [{ type, text }];
  const blocks: Block[] = [];
  let from = 0;
  const add = (part: string) => part.trim() !== "" && blocks.push({ type, text: part });
  for (const { 0: whole, 1: label, 2: linked, 3: bare, index } of text.matchAll(inText)) {
    if (blocks.length >= 2 * maxImages) break;
    add(text.slice(from, index));
    const url = linked ?? bare ?? "";
    const data = Buffer.from(url.slice(url.indexOf(",") + 1), "base64");
    if (isDrawable(data)) blocks.push({ type: "image", text: url, label: label || "Image" });
    else add(`[image: ${url.slice(5, url.indexOf(";"))}, ${Math.ceil(data.length / 1024)} KiB]`);
    from = index + whole.length;
  }
  add(text.slice(from));
  return blocks;
}
