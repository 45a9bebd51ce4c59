import { z } from "zod";
import "server-only";
import { notFound } from "#lib/core/errors";
import { exactText, utcInstant } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { readTraceRows } from "#lib/traces/queries";

/** `projectId` is the only project that the reader may see. */
export type AgentReader = { userId: string; projectId: string | null };

/** Returns Markdown; throws SpoorError. */
export type Tool<Input extends z.ZodObject = z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  input: Input;
  run(input: z.output<Input>, reader: AgentReader): Promise<string>;
};

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

/** @param usual default page size */
export const page = (usual: number) => ({
  limit: z.int().min(1).max(limits.mcp.perPage).default(usual).describe("Maximum number of results per page."),
  cursor: exactText(1, limits.mcp.cursor).optional().describe("The cursor at the end of the previous page."),
});

export const session = z.uuid().describe("A session's id, as returned by other tools.");

export const narrowing = {
  project: exactText(1, limits.trace.project).optional().describe("Only sessions of this project, by its exact name."),
  agent: exactText(1, limits.trace.source)
    .optional()
    .describe("Only sessions of this agent, such as claude-code or codex."),
  since: utcInstant.optional().describe("Only sessions active at or after this time, in ISO 8601 with an offset."),
  until: utcInstant.optional().describe("Only sessions active before this time, in ISO 8601 with an offset."),
};

type Narrowing = { [Name in keyof typeof narrowing]?: string | undefined };

export const toFilter = ({ project, agent, since, until }: Narrowing) => ({
  project,
  source: agent,
  from: since,
  to: until,
});
