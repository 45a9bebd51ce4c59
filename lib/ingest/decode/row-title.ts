import { maskForOthers } from "#common/secrets/mask";
import type { BatchMessage } from "#lib/ingest/decode/normalize";
import { type Beginning, beginningCharacters, deriveTitle, kindIn } from "#lib/transcript/titles/derive-title";

export function deriveRowTitle(messages: readonly BatchMessage[]): {
  derivedTitle: string | null;
  titleRank: number | null;
} {
  const { title = null, rank = null } = deriveTitle(beginnings(messages)) ?? {};
  return { derivedTitle: title, titleRank: rank };
}

function* beginnings(messages: readonly BatchMessage[]): Generator<Beginning> {
  for (const { role, content, metadata } of messages) {
    if (role !== "user" && role !== "assistant") continue;
    const start = content.slice(0, beginningCharacters[role]);
    // Masked first, since titles are shown to others and a cut secret is not recognized.
    yield { role, text: maskForOthers(/\S/.test(start) ? start : content), kind: readKind(metadata) };
  }
}

const readKind = (metadata: string | null): string | undefined =>
  metadata?.includes('"kind"') ? kindIn(JSON.parse(metadata)) : undefined;
