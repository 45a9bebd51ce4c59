import "server-only";
import type { TraceHeader } from "#lib/ingest/decode/manifest";
import { isPromptsOnly } from "#lib/ingest/process/append";
import type { Pair } from "#lib/ingest/process/sql/traces";
import type { TraceLinks } from "#lib/messages/pictures/sql";

/** An earlier version stored messages without pictures, and a session's prompts say nothing of them. */
export function listLinks(
  headers: TraceHeader[],
  created: Map<number, string>,
  stored: { same: Pair[]; changed: Pair[]; appended: Pair[] },
): TraceLinks[] {
  const link =
    (isWhole: boolean) =>
    ({ header, stored: { id, isPromptsOnly: isPrompts } }: Pair): TraceLinks[] =>
      !isWhole && (header.pictures.length === 0 || isPromptsOnly(header) !== isPrompts)
        ? []
        : [{ traceId: id, isWhole, pictures: header.pictures }];
  const isNew = [...created].flatMap(([index, traceId]) => {
    const { pictures = [] } = headers[index] ?? {};
    return pictures.length === 0 ? [] : [{ traceId, isWhole: false, pictures }];
  });
  return [
    ...isNew,
    ...stored.changed.flatMap(link(true)),
    ...[...stored.same, ...stored.appended].flatMap(link(false)),
  ];
}
