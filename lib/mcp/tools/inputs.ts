import { z } from "zod";
import { exactText, utcInstant } from "#lib/fields";
import { limits } from "#lib/limits";

/** @param usual page size */
export const page = (usual: number) => ({
  limit: z.int().min(1).max(limits.mcp.perPage).default(usual).describe("How many results a page has at most."),
  cursor: exactText(1, limits.mcp.cursor).optional().describe("The cursor that the page before ended with."),
});

export const session = z.uuid().describe("A session's id, as other tools give it.");

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
