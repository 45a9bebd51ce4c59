// Where the pictures of a message belong: a line of its text stands for each (docs/trace-format.md).
import type { Piece } from "#lib/reader/call";
import type { ReaderMessage } from "#lib/reader/message";
import type { ShownPicture } from "#lib/reader/picture-references";

const placeholder =
  /^[ \t]*\[(?:image|file): [^\]\n]{1,200}, (\d{1,6}) KiB\][ \t]*\n?|\[(?:image|file): [^\]\n]{1,200}, (\d{1,6}) KiB\]/gm;

/** Clients count the size of the data as it was written, which may be a little more than the picture's. */
const hasSize = ({ bytes }: ShownPicture, kibibytes: number): boolean =>
  [0, 1].includes(kibibytes - Math.ceil(bytes / 1024));

/**
 * Gives the pieces of a message its pictures: each to the text with its placeholder, which is taken out where the picture is stored.
 * What has no placeholder goes to the last text.
 */
export function placePictures(pieces: Piece[], { role, pictures = [] }: ReaderMessage): Piece[] {
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

const getResult = (piece: Piece) => (piece.type === "call" || piece.type === "result" ? piece.result : undefined);

/** @param left the pictures that have no place so far, of which those are removed that get one */
function withOwn(piece: Piece, left: ShownPicture[]): Piece {
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
  const without: Piece =
    piece.type === "text"
      ? { ...piece, text }
      : piece.type === "result" || piece.type === "call"
        ? ({ ...piece, result: { ...piece.result, output: text } } as Piece)
        : piece;
  return adding(without, own);
}

function adding(piece: Piece, more: ShownPicture[]): Piece {
  if (piece.type === "text") return { ...piece, pictures: [...(piece.pictures ?? []), ...more] };
  const result = getResult(piece);
  if (!result) return piece;
  return { ...piece, result: { ...result, pictures: [...(result.pictures ?? []), ...more] } } as Piece;
}
