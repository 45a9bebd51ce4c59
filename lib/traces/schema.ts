import { z } from "zod";
import { exactText, usageShape, utcInstant, wholeNumber, withoutInvisible } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { matchesShape, messageShape, metadataShape } from "#lib/messages/schema";
import { type CountedName, chosenQuery, filterFields, matchShape } from "#lib/search/schema";

const { traces: page } = limits;

export const traceShape = z.object({
  id: z.uuid(),
  source: z.string(),
  sourceId: z.string(),
  model: z.string().nullable(),
  title: z.string().nullable(),
  /** Shown on pages: the name that a person gave, or a short title. */
  shortTitle: z.string().nullable(),
  project: z.string().nullable(),
  createdAt: z.iso.datetime().nullable(),
  updatedAt: z.iso.datetime(),
  /** False if only its upload has a time. */
  dated: z.boolean(),
  messageCount: z.int(),
  tokenCount: z.int(),
  sanitized: z.boolean(),
  metadata: metadataShape,
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

/** `matches` has the best messages of the first traces if the order is `best`. */
export const listedTraceShape = traceShape.extend({
  pullRequests: z.array(pullRequestShape),
  matches: z.array(matchShape).optional(),
});

export const wholeTraceShape = traceShape.extend({
  branches: z.array(branchShape),
  commits: z.array(commitShape),
  pullRequests: z.array(pullRequestShape.extend({ evidence, position })),
});

export const sorts = ["activity", "start", "cost", "length"] as const;
export type Sort = (typeof sorts)[number];

const orders = ["newest", "best"] as const;
export type Order = (typeof orders)[number];

export const listQuery = z.object({
  ...filterFields,
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

export const changesQuery = z.object({ ...filterFields, id: z.uuid(), updatedAt: utcInstant });

export const changesResponse = z.object({ ok: z.literal(true), count: z.int() });
export type Changes = z.output<typeof changesResponse>;

const maskLevel = z.enum(["secrets", "all"]);

const maskedField = maskLevel
  .optional()
  .describe(
    "Masks for others: `secrets` replaces possible secrets with `[redacted:KIND]`, `all` also hides names of home folders, users and machines.",
  );

export const exportQuery = chosenQuery.extend({ masked: maskedField });
export const jsonQuery = z.object({ masked: maskedField });

/** `from`, `to` and `plain` apply to Markdown for GitHub. */
export const markdownQuery = z.object({
  for: z.enum(["github"]).optional(),
  from: wholeNumber(0, limits.message.integer).optional(),
  to: wholeNumber(0, limits.message.integer).optional(),
  plain: z.enum(["1"]).optional(),
  masked: maskedField,
});

/** Without invisible characters, which could make it look like another text. */
const oneLine = (text: string) => withoutInvisible(text.replace(/\s+/g, " ")).trim();

/** Lower case, so that spellings of a word are one tag. */
export const tagName = z
  .string()
  .max(2 * page.tag)
  .transform((text) => oneLine(text).replace(/^#/, "").toLowerCase())
  .pipe(
    z
      .string()
      .min(1, "must contain a letter or a digit")
      .max(page.tag)
      .regex(/^[^,]*$/, "must not contain commas"),
  );

export const marksShape = z
  .object({
    title: z.string().max(limits.trace.title).transform(oneLine).nullable(),
    starred: z.boolean(),
    archived: z.boolean(),
    note: z
      .string()
      .max(page.note)
      .transform((text) => text.replaceAll("\0", "").toWellFormed().trim())
      .nullable(),
    tags: z
      .array(tagName)
      .max(page.tags)
      .transform((tags) => [...new Set(tags)]),
  })
  .partial();
