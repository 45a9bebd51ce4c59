import { z } from "zod";
import { exactText, usageShape, wholeNumber, withoutInvisible } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

const { traces: page } = limits;

/** Figures and activity descending, names ascending. */
export const projectSorts = ["active", "name", "sessions", "cost"] as const;
export type ProjectSort = (typeof projectSorts)[number];

const figures = {
  sessions: z.int(),
  /** Sessions that lists leave out: archived, or without content. */
  sessionsPutAway: z.int(),
  costNano: z.int(),
  usage: usageShape,
};

const names = { id: z.uuid(), name: z.string(), distinction: z.string().nullable() };

const projectShape = z.object({
  ...names,
  ...figures,
  agents: z.array(z.string()),
  lastActiveAt: z.iso.datetime().nullable(),
});
export type ProjectSummary = z.output<typeof projectShape>;

const share = z.object({ value: z.string(), sessions: z.int(), costNano: z.int() });
export type Share = z.output<typeof share>;

const month = z.object({
  month: z.string(),
  tokens: z.int(),
  costNano: z.int(),
  unpricedTokens: z.int(),
  tierNotPricedTokens: z.int(),
});
export type ProjectMonth = z.output<typeof month>;

const aliasShape = z.object({
  kind: z.enum(["remote", "folder", "name"]),
  machine: z.string().nullable(),
  value: z.string(),
});

const projectDetails = projectShape.extend({
  createdAt: z.iso.datetime(),
  aliases: z.array(aliasShape),
  byAgent: z.array(share),
  byModel: z.array(share),
  byMachine: z.array(share),
  byBranch: z.array(share),
  byMonth: z.array(month),
});
export type ProjectDetails = z.output<typeof projectDetails>;

export const projectsQuery = z.object({
  q: exactText(1, page.query).optional(),
  sort: z.enum(projectSorts).default("active"),
  limit: wholeNumber(1, page.maxPerPage).default(page.perPage),
  cursor: z.string().min(1).max(page.projectCursor).optional(),
});
export type ProjectsQuery = z.output<typeof projectsQuery>;

export const projectsResponse = z.object({
  ok: z.literal(true),
  projects: z.array(projectShape),
  nextCursor: z.string().nullable(),
});

export const projectResponse = z.object({ ok: z.literal(true), project: projectDetails });

export const givenName = z
  .string()
  .transform((name) => withoutInvisible(name).replace(/\s+/g, " ").trim())
  .pipe(z.string().min(1, "Enter a name.").max(page.projectName, `Enter at most ${page.projectName} characters.`));
