// What an agent may read that was let into one project alone.
import "server-only";
import { notFound } from "#lib/errors";
import type { Reader } from "#lib/mcp/tools/tool";
import { readTraceRows } from "#lib/traces/queries";

/** What narrows a list to what a reader may read, whatever project was asked for. */
export const within = ({ projectId }: Reader) => (projectId === null ? {} : { project: undefined, projectId });

/** Those of some sessions that a reader may read. */
export async function readableOf(reader: Reader, ids: string[]): Promise<ReadonlySet<string>> {
  if (reader.projectId === null || ids.length === 0) return new Set(ids);
  const rows = await readTraceRows(reader.userId, { ...within(reader), ids }, { limit: ids.length });
  return new Set(rows.map(({ id }) => id));
}

/** @throws SpoorError `not_found` for a session of another project, as for a missing one */
export async function requireReadable(reader: Reader, id: string): Promise<void> {
  if (!(await readableOf(reader, [id])).has(id)) throw notFound();
}
