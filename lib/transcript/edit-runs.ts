import { sumCounts } from "#lib/transcript/files/changes";
import type { ReaderRow } from "#lib/transcript/message";
import { addTokens } from "#lib/transcript/quiet";
import { formatQuantity } from "#lib/transcript/text";

/** Several edits of one file in a row become one row with their sum. */
export function groupEdits(rows: ReaderRow[]): ReaderRow[] {
  const grouped: ReaderRow[] = [];
  let run: ReaderRow[] = [];
  const end = () => {
    grouped.push(...(run.length > 1 ? [toGroupRow(run)] : run));
    run = [];
  };
  for (const row of rows) {
    const path = editedPath(row);
    if (run[0] && editedPath(run[0]) !== path) end();
    if (path === undefined) grouped.push(row);
    else run.push(row);
  }
  end();
  return grouped;
}

/** Undefined for a row that is anything but one edit of one file. */
function editedPath({ kind, failed, parts: [part, ...more] }: ReaderRow): string | undefined {
  if (kind !== "edit" || failed || more.length > 0 || part?.files?.length !== 1) return undefined;
  return part.files[0]?.path;
}

function toGroupRow(members: ReaderRow[]): ReaderRow {
  const [first] = members as [ReaderRow];
  const edits = members.flatMap(({ parts }) => parts);
  const title = edits[0]?.title ?? "";
  const counts = edits.flatMap((edit) => edit.changes ?? []);
  return {
    ...first,
    kind: "group",
    positions: members.flatMap(({ positions }) => positions),
    tokenCount: members.map(({ tokenCount }) => tokenCount).reduce(addTokens, null),
    parts: [
      {
        kind: "edit",
        title,
        note: formatQuantity(edits.length, "edit"),
        ...(counts.length > 0 && { changes: sumCounts(counts) }),
        blocks: [],
      },
    ],
    members: members.map((member) => ({ ...member, gapBefore: null })),
  };
}
