import type { MessagePiece } from "#lib/reader/call";
import type { ReaderMessage } from "#lib/reader/message";
import type { ShownPicture } from "#lib/reader/picture-references";

const placeholder =
  /^[ \t]*\[(?:image|file): [^\]\n]{1,200}, (\d{1,6}) KiB\][ \t]*\n?|\[(?:image|file): [^\]\n]{1,200}, (\d{1,6}) KiB\]/gm;

/** Clients count the data's size as written, which may exceed the picture's. */
const hasSize = ({ bytes }: ShownPicture, kibibytes: number): boolean =>
  [0, 1].includes(kibibytes - Math.ceil(bytes / 1024));

/**
 * Assigns each picture to the text with its placeholder, which is removed if the picture is stored; pictures without
 * one go to the last text.
 */
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

const getResult = (piece: MessagePiece) => (piece.type === "call" || piece.type === "result" ? piece.result : undefined);

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
