// Restricts an agent to the one project that it was let into.
import "server-only";
import { notFound } from "#lib/errors";
import type { AgentReader } from "#lib/mcp/tools/tool";
import { readTraceRows } from "#lib/traces/queries";

/** Overrides whatever project was asked for. */
export const within = ({ projectId }: AgentReader): { project?: undefined; onlyProjectId?: string } =>
  projectId === null ? {} : { project: undefined, onlyProjectId: projectId };

/** For an unrestricted reader this does not check that the session exists. */
export async function isReadable(reader: AgentReader, id: string): Promise<boolean> {
  if (reader.projectId === null) return true;
  return (await readTraceRows(reader.userId, { ...within(reader), ids: [id] }, { limit: 1 })).length > 0;
}

/** @throws SpoorError `not_found` for a session of another project, as for a missing one */
export async function requireReadable(reader: AgentReader, id: string): Promise<void> {
  if (!(await isReadable(reader, id))) throw notFound();
}
