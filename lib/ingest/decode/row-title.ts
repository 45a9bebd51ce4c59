// Runs in the decoding thread: gives a trace a title by the beginnings of its messages.
import type { MessageRows } from "#lib/ingest/decode/message-rows";
import { type Beginning, beginningCharacters, deriveTitle, kindIn } from "#lib/reader/titles/find";
import { maskForOthers } from "#lib/secrets/mask";

/** The title of a trace's messages, and its rank. */
export function deriveRowTitle(rows: MessageRows): { derivedTitle: string | null; titleRank: number | null } {
  const { title = null, rank = null } = deriveTitle(beginnings(rows)) ?? {};
  return { derivedTitle: title, titleRank: rank };
}

function* beginnings(rows: MessageRows): Generator<Beginning> {
  for (let at = 0; at < rows.end; at = rows.next(at)) {
    const { role, content } = rows.read(at);
    if (role !== "user" && role !== "assistant") continue;
    const max = beginningCharacters[role];
    const start = content.toString("utf8", 0, max);
    const isEnough = content.length <= max || /\S/.test(start);
    // A title is shown to others, too, and what is cut or has other blanks can't be told to be a secret.
    yield { role, text: maskForOthers(isEnough ? start : content.toString("utf8")), kind: readKind(rows, at) };
  }
}

/** The kind that a message's metadata names, which few do. */
function readKind(rows: MessageRows, at: number): string | undefined {
  const { metadata } = rows.parts(at);
  return metadata?.includes('"kind"') ? kindIn(JSON.parse(metadata.toString("utf8"))) : undefined;
}
