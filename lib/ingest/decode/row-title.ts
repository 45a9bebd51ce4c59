import type { MessageRows } from "#lib/ingest/decode/message-rows";
import { type Beginning, beginningCharacters, deriveTitle, kindIn } from "#lib/reader/titles/find";
import { maskForOthers } from "#lib/secrets/mask";

/** Derives a title from the beginnings of a trace's messages. */
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
    // Others see a title too, and a cut secret can't be recognized.
    yield { role, text: maskForOthers(isEnough ? start : content.toString("utf8")), kind: readKind(rows, at) };
  }
}

function readKind(rows: MessageRows, at: number): string | undefined {
  const { metadata } = rows.parts(at);
  return metadata?.includes('"kind"') ? kindIn(JSON.parse(metadata.toString("utf8"))) : undefined;
}
