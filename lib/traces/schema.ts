import { z } from "zod";
import { commitHash, exactText, type Facet, facets, pullRequestName, usageShape, utcInstant } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

const { traces: page } = limits;

const metadata = z.record(z.string(), z.unknown()).nullable();

export const traceShape = z.object({
  id: z.uuid(),
  source: z.string(),
  sourceId: z.string(),
  model: z.string().nullable(),
  title: z.string().nullable(),
  /** What pages show: the name that a person gave, or a short form of the title. */
  shortTitle: z.string().nullable(),
  project: z.string().nullable(),
  createdAt: z.iso.datetime().nullable(),
  updatedAt: z.iso.datetime(),
  /** False if only its upload tells when it was active. */
  dated: z.boolean(),
  messageCount: z.int(),
  tokenCount: z.int(),
  sanitized: z.boolean(),
  metadata,
  usage: usageShape,
  costNano: z.int(),
  recordedNano: z.int().nullable(),
  parentId: z.uuid().nullable(),
  parentRelation: z.string().nullable(),
  projectId: z.uuid().nullable(),
  filesChanged: z.int(),
  linesAdded: z.int(),
  linesRemoved: z.int(),
  machine: z.string().nullable(),
  turnCount: z.int(),
  callCount: z.int(),
  errorCount: z.int(),
  activeSeconds: z.int(),
  trivial: z.boolean(),
  customTitle: z.string().nullable(),
  starredAt: z.iso.datetime().nullable(),
  archivedAt: z.iso.datetime().nullable(),
  note: z.string().nullable(),
  tags: z.array(z.string()),
});

const evidence = z.string();
const position = z.int().nullable();

const branchShape = z.object({ branch: z.string(), evidence, position });

const commitShape = z.object({
  hash: z.string(),
  subject: z.string().nullable(),
  branch: z.string().nullable(),
  repository: z.string().nullable(),
  url: z.url().nullable(),
  evidence,
  position,
});

const pullRequestShape = z.object({ number: z.int(), repository: z.string(), url: z.url() });

const matchShape = z.object({
  position: z.int(),
  role: z.string().nullable(),
  speaker: z.enum(["person", "assistant", "thinking", "tool", "notice"]),
  text: z.string(),
});
export type SearchMatch = z.output<typeof matchShape>;

/** `matches`: the best messages, for the first traces of a search in the order `best`. */
export const listedTraceShape = traceShape.extend({
  pullRequests: z.array(pullRequestShape),
  matches: z.array(matchShape).optional(),
});

export const wholeTraceShape = traceShape.extend({
  branches: z.array(branchShape),
  commits: z.array(commitShape),
  pullRequests: z.array(pullRequestShape.extend({ evidence, position })),
});

export const messageShape = z.object({
  position: z.int(),
  role: z.string().nullable(),
  content: z.string(),
  tokenCount: z.int().nullable(),
  createdAt: z.iso.datetime().nullable(),
  metadata,
});

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.int().min(min).max(max))
    .meta({ type: "integer", pattern: undefined, minimum: min, maximum: max });

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

const filter = {
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

export { type Facet, facets };

/**
 * Values match exactly (any of several), files by the end of their path, evidence as in docs/decisions/0046. `from` is
 * inclusive, `to` exclusive.
 */
export const traceFilter = z.object(filter);
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
  ...filter,
  id: z.union([chosenIds, z.uuid().transform((id) => [id])]).optional(),
});

export const sorts = ["activity", "start", "cost", "length"] as const;
export type Sort = (typeof sorts)[number];

const orders = ["newest", "best"] as const;
export type Order = (typeof orders)[number];

export const listQuery = z.object({
  ...filter,
  order: z.enum(orders).default("newest"),
  sort: z.enum(sorts).default("activity"),
  cursor: z.string().min(1).max(page.cursor).optional(),
  limit: wholeNumber(1, page.maxPerPage).default(page.perPage),
});

export const listResponse = z.object({
  ok: z.literal(true),
  traces: z.array(listedTraceShape),
  nextCursor: z.string().nullable(),
  partial: z.literal(true).optional(),
  corrected: z.string().optional(),
});

export const suggestionsQuery = z.object({ q: exactText(1, page.query) });

const suggestionShape = z.object({
  kind: z.enum(["word", "file", "project", "filter"]),
  text: z.string(),
  q: z.string(),
});
export type Suggestion = z.output<typeof suggestionShape>;

export const suggestionsResponse = z.object({ ok: z.literal(true), suggestions: z.array(suggestionShape) });

export const traceResponse = z.object({ ok: z.literal(true), trace: wholeTraceShape });

export const messagesQuery = z.object({
  after: wholeNumber(0, limits.message.integer).optional(),
  limit: wholeNumber(1, page.maxMessagesPerPage).default(page.messagesPerPage),
});

export const messagesResponse = z.object({
  ok: z.literal(true),
  messages: z.array(messageShape),
  nextAfter: z.int().nullable(),
});

export const matchesQuery = z.object({ q: exactText(1, page.query) });

const matchesShape = z.object({
  total: z.int(),
  messages: z.int(),
  places: z.array(z.tuple([z.int(), z.int()])),
});
export type Matches = z.output<typeof matchesShape>;

export const matchesResponse = matchesShape.extend({ ok: z.literal(true) });

export const growthQuery = z.object({ after: wholeNumber(0, limits.message.integer) });

export const growthResponse = z.object({
  ok: z.literal(true),
  messages: z.int(),
  live: z.boolean(),
  waiting: z.enum(["waiting", "asking"]).nullable(),
});
export type Growth = Omit<z.output<typeof growthResponse>, "ok">;

const facetValue = z.object({ value: z.string(), count: z.int() });
export type FacetValue = z.output<typeof facetValue>;

const projectValue = facetValue.extend({ name: z.string() });
export type ProjectValue = z.output<typeof projectValue>;

const facetValues = z.object({
  source: z.array(facetValue),
  model: z.array(facetValue),
  project: z.array(facetValue),
  machine: z.array(facetValue),
  projectId: z.array(projectValue),
  branch: z.array(facetValue),
  tag: z.array(facetValue),
  tool: z.array(facetValue),
} satisfies Record<CountedName | "projectId", z.ZodType>);
export type FacetValues = z.output<typeof facetValues>;

export const facetsResponse = facetValues.extend({ ok: z.literal(true) });

export const changesQuery = z.object({ ...filter, id: z.uuid(), updatedAt: utcInstant });

export const changesResponse = z.object({ ok: z.literal(true), count: z.int() });
export type Changes = z.output<typeof changesResponse>;
