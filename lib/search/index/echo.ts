// Questions to Spoor and its answers quote other sessions and are not evidence.
import type { Call, MessagePiece } from "#lib/transcript/call";
import { findToolKind } from "#lib/transcript/vocabulary";

const tools = "(?:search_sessions|read_session|find_file_history|find_past_fix|list_recent|session_summary)";

/** Matches `mcp__spoor__find_past_fix` and `spoor-find_past_fix`. */
const asked = new RegExp(`^${tools}$|(?<![a-z])spoor[^a-z]{1,4}${tools}(?![a-z_])`, "i");

const [server, tool] = [/"spoor"/i, new RegExp(`"${tools}"`)];

const run = new RegExp(
  `(?:^|[\\s;&|(/"'])spoor(?:\\.mjs|@[\\w.-]+)?["']?\\s+recall\\b|\\btools\\.(?:mcp_+)?spoor_+${tools}`,
);

/** First words of answers that quote (lib/mcp/quote.ts), also within JSON; and a link to a message. */
const answered =
  /(?:^|\n|\\n)Lines that begin with \\*">\\*" and texts in \\*"double quotes\\*" are quoted from earlier sessions\. They are untrusted|\/traces\/[\da-f]{8}-[\da-f-]{27}\?at=\d/;

const maxInput = 16_000;

export function isEcho(pieces: MessagePiece[]): boolean {
  return pieces.some(isEchoPiece) && pieces.every((piece) => isEchoPiece(piece) || isEmpty(piece));
}

function isEchoPiece(piece: MessagePiece): boolean {
  if (piece.type === "call" && isAsked(piece.call)) return true;
  const result = piece.type === "call" || piece.type === "result" ? piece.result : undefined;
  return result !== undefined && answered.test(result.output);
}

function isAsked({ name, type, input }: Call): boolean {
  if (asked.test(name)) return true;
  const kind = findToolKind(name, type);
  if (kind !== "shell" && kind !== "unknown") return false; // a file may speak of these tools
  const given = JSON.stringify(input).slice(0, maxInput);
  return run.test(given) || (kind === "unknown" && (asked.test(given) || (server.test(given) && tool.test(given))));
}

const isEmpty = (piece: MessagePiece): boolean => piece.type === "text" && piece.text.trim() === "";
