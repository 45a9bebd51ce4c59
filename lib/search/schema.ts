import { z } from "zod";
import { commitHash, exactText, type Facet, facets, pullRequestName, utcInstant, wholeNumber } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

const { traces: page } = limits;

/** A repeated parameter matches any of its values. */
const several = <Value extends z.ZodType>(value: Value) =>
  z.union([value, z.array(value).min(1).max(page.filterValues)]).optional();

const flag = z.enum(["true", "false"]).transform((text) => text === "true");

const courseFilter = {
  starred: flag.optional(),
  archived: flag.optional(),
  trivial: flag.optional(),
  errors: flag.optional(),
  tag: several(exactText(1, page.tag).transform((tag) => tag.toLowerCase())),
  tool: several(exactText(1, page.tool)),
  minCost: z
    .string()
    .regex(/^\d{1,7}(?:\.\d{1,4})?$/, "must be an amount in dollars, as 2.50")
    .optional(),
  minMessages: wholeNumber(1, limits.message.integer).optional(),
};

export const filterFields = {
  q: exactText(1, page.query).optional(),
  source: several(exactText(1, limits.trace.source)),
  model: several(exactText(1, limits.trace.model)),
  project: several(exactText(1, limits.trace.project)),
  machine: several(exactText(1, limits.device.machine)),
  projectId: several(z.uuid()),
  branch: several(exactText(1, limits.trace.branch)),
  file: several(
    exactText(1, page.filePath).refine((path) => /(?:^|[\\/])(?!\.?(?:[\\/]|$))/.test(path), "must name a file"),
  ),
  commit: commitHash.optional(),
  pr: pullRequestName.optional(),
  from: utcInstant.optional(),
  to: utcInstant.optional(),
  parent: z.uuid().optional(),
  roots: z
    .enum(["true", "false"])
    .transform((text) => text === "true" || undefined)
    .optional(),
  ...courseFilter,
};

/**
 * Values match exactly (any of several), files by the end of their path, evidence as in docs/decisions/0046. `from` is
 * inclusive, `to` exclusive.
 */
export const traceFilter = z.object(filterFields);
export type TraceFilter = z.output<typeof traceFilter>;

export const filterNames = [
  "q",
  "projectId",
  ...facets,
  "branch",
  "file",
  "commit",
  "pr",
  "from",
  "to",
  "parent",
  "starred",
  "tag",
  "tool",
  "errors",
  "minCost",
  "minMessages",
  "archived",
  "trivial",
] as const satisfies (keyof TraceFilter)[];
export type FilterName = (typeof filterNames)[number];

export type SeveralName = Facet | "projectId" | "branch" | "file" | "tag" | "tool";

export type CountedName = Facet | "branch" | "tag" | "tool";

/** At most one page, so that they fit in a URL. */
export const chosenIds = z.array(z.uuid()).max(page.maxPerPage);

export const chosenQuery = z.object({
  ...filterFields,
  id: z.union([chosenIds, z.uuid().transform((id) => [id])]).optional(),
});

export const matchShape = z.object({
  position: z.int(),
  role: z.string().nullable(),
  speaker: z.enum(["person", "assistant", "thinking", "tool", "notice"]),
  text: z.string(),
});
export type SearchMatch = z.output<typeof matchShape>;

export const suggestionsQuery = z.object({ q: exactText(1, page.query) });

const suggestionShape = z.object({
  kind: z.enum(["word", "file", "project", "filter"]),
  text: z.string(),
  q: z.string(),
});
export type Suggestion = z.output<typeof suggestionShape>;

export const suggestionsResponse = z.object({ ok: z.literal(true), suggestions: z.array(suggestionShape) });

export const namesQuery = z.object({ q: exactText(1, limits.traces.nameQuery).optional() });

export const namesResponse = z.object({
  ok: z.literal(true),
  sessions: z.array(
    z.object({
      id: z.uuid(),
      title: z.string().nullable(),
      source: z.string(),
      project: z.string().nullable(),
      updatedAt: z.iso.datetime(),
    }),
  ),
  projects: z.array(z.object({ id: z.uuid(), name: z.string() })),
});
export type NamesResponse = z.input<typeof namesResponse>;
