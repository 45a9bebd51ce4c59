import { z } from "zod";
import { sha256Text } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import type { Operation } from "#lib/http/operation";
import { traceFilter } from "#lib/search/schema";
import { listedTrace, messages, trace, wholeTrace } from "#lib/traces/examples";
import {
  changesQuery,
  changesResponse,
  exportQuery,
  facetsResponse,
  growthQuery,
  growthResponse,
  jsonQuery,
  listQuery,
  listResponse,
  markdownQuery,
  marksShape,
  matchesQuery,
  matchesResponse,
  messagesQuery,
  messagesResponse,
  traceResponse,
} from "#lib/traces/schema";

const params = z.object({ id: z.uuid() });

export const readTraceList = {
  methods: ["GET"],
  path: "/api/traces",
  auth: "cookie-or-bearer",
  scope: "read",
  query: listQuery,
  response: listResponse,
  about: {
    group: "Traces",
    summary: "List traces",
    text: "Newest activity first. `order=best` orders the hits of a search by relevance (at most 500 traces), with the best messages of the first traces in `matches`. With `partial: true`, no trace has all words, and those with most of them are listed; `corrected` is the query used instead if some words are unknown. `q` is a search: words and their beginnings, quoted phrases, identifiers and paths; `-word` excludes, `or` joins alternatives, and `file:`, `changed:`, `project:`, `branch:`, `agent:`, `model:`, `tool:`, `role:`, `in:title`, `before:`, `after:` and `has:error` narrow it: `query = term *( 1*space [ 'or' 1*space ] term )`, `term = [ '-' ] [ filter ':' ] ( word | phrase )` (docs/search.md). `from` (inclusive) and `to` (exclusive) limit the last activity, `parent` selects what came from one session, and `roots=true` sessions that came from no other. `branch` is a Git branch's exact name, `commit` a hash or at least 7 of its first digits, and `pr` a pull request's URL, `OWNER/NAME#NUMBER`, or its number. `starred`, `archived`, `trivial` (no content) and `errors` (failed calls) are `true` or `false`; `tag` and `tool` are exact names, `file` is a file by the end of its path, `minCost` an amount in dollars, `minMessages` a number. `sort` is `activity`, `start`, `cost` or `length`, highest first; a search has its own order. A repeated `source`, `model`, `project`, `projectId`, `machine`, `branch`, `file`, `tag` or `tool` (at most 20 times) matches any of its values. `project` is the text sent with a trace, `projectId` an id of `GET /api/projects`. A page may have fewer traces than `limit`. Continue with `cursor` from `nextCursor`, which is null at the end.",
    answers: { 200: { text: "A page of the list.", example: { ok: true, traces: [listedTrace], nextCursor: null } } },
    errors: {
      invalid_request:
        "A parameter is not valid, `q` is not a valid query (`errors` contains the position), or the cursor is unknown.",
    },
    example: { query: { q: "retry test -windows role:user", project: "api", pr: "ada/api#123", limit: "20" } },
    wrong: { query: { q: "or", limit: "0", from: "yesterday", commit: "HEAD", pr: "ada/api" } },
  },
} satisfies Operation;

const facetValues = {
  source: [{ value: "claude-code", count: 41 }],
  model: [{ value: "claude-opus-4-5", count: 40 }],
  project: [{ value: "api", count: 12 }],
  machine: [{ value: "ada-laptop", count: 41 }],
  projectId: [{ value: trace.projectId, name: "api", count: 12 }],
  branch: [{ value: "main", count: 9 }],
  tag: [{ value: "release", count: 3 }],
  tool: [{ value: "Bash", count: 38 }],
};

export const readFacetValues = {
  methods: ["GET"],
  path: "/api/traces/facets",
  auth: "cookie-or-bearer",
  scope: "read",
  query: traceFilter,
  response: facetsResponse,
  about: {
    group: "Traces",
    summary: "List the values of facets",
    text: "The 100 most frequent values of `source`, `model`, `project`, `machine`, `branch`, `tag` and `tool`, with their numbers of traces. A facet's own filter does not apply to its values. `projectId` lists projects with their names.",
    partialExample: true, // a session without tools or tags has none
    answers: { 200: { text: "The values.", example: { ok: true, ...facetValues } } },
    example: { query: { project: "api" } },
    wrong: { query: { from: "yesterday" } },
  },
} satisfies Operation;

export const readChanges = {
  methods: ["GET"],
  path: "/api/traces/changes",
  auth: "cookie-or-bearer",
  scope: "read",
  query: changesQuery,
  response: changesResponse,
  about: {
    group: "Traces",
    summary: "Count new and changed traces",
    text: "Counts, up to 100, traces that are newer in the list than the one with this `id` and `updatedAt`. Accepts the list's filters. With `roots=true`, a session also counts if one below it was active later.",
    answers: { 200: { text: "Their number.", example: { ok: true, count: 2 } } },
    example: { query: { id: trace.id, updatedAt: trace.updatedAt } },
  },
} satisfies Operation;

export const readTrace = {
  methods: ["GET"],
  path: "/api/traces/{id}",
  auth: "cookie-or-bearer",
  scope: "read",
  params,
  response: traceResponse,
  about: {
    group: "Traces",
    summary: "Get a trace",
    text: "`title` falls back to the first line of the first user message; `shortTitle` is what pages show: the name that a person gave, or a short form of the title. A session without a title of its own and with one commit is called by that commit's subject. `sanitized` means that characters which PostgreSQL can't store were replaced with U+FFFD. The fields after `metadata` are derived from the messages a few seconds after an upload. `usage` counts each token once: `inputTokens` excludes cached ones, `outputTokens` includes `reasoningTokens`. `costNano` is their cost at the prices of their day, in nano-dollars (10⁻⁹ US dollars); it excludes `unpricedTokens` (models without a price) and includes `tierNotPricedTokens` (service tiers without a price) at the standard price. `recordedNano` is the cost recorded by the agent. `parentId` is the session that started this one, or that it continues (`parentRelation`). Files and lines are the changed ones. `branches`, `commits` and `pullRequests` are proved by the session's own messages, at most 500 of each; `position` is the message, and `evidence` the kind of proof: `git-commit`, `git-push`, `gh-pr-create` and `glab-mr-create` printed it, a `pull-request-tool` opened it, a `message` names it, the agent wrote it down (`session-meta`, `pr-link`), or the `client` found it.",
    answers: { 200: { text: "The trace, without its messages.", example: { ok: true, trace: wholeTrace } } },
  },
} satisfies Operation;

export const markTrace = {
  methods: ["PATCH"],
  path: "/api/traces/{id}",
  auth: "cookie-or-bearer",
  scope: "ingest",
  params,
  body: { schema: marksShape, maxBytes: limits.traces.marksBytes },
  about: {
    group: "Traces",
    summary: "Change a trace's name, star, tags, note or archiving",
    text: "Omitted fields stay unchanged. `title` replaces the agent's title, and null restores it. `tags` replaces all tags, in lower case. `note` is plain text, and null removes it. Pages hide archived traces; the API lists them unless filtered. Sending the trace again keeps these fields, deleting it removes them, and exports omit them.",
    answers: { 204: { text: "It is marked." } },
    errors: {
      access_denied:
        "The token lacks the scope `ingest`, or a browser's request did not come from this server's own pages.",
    },
    example: { body: { title: "Mend the timer", starred: true, tags: ["release"] } },
    wrong: { body: { tags: ["a,b"] } },
  },
} satisfies Operation;

export const removeTrace = {
  methods: ["DELETE"],
  path: "/api/traces/{id}",
  auth: "cookie-or-bearer",
  scope: "delete",
  params,
  about: {
    group: "Traces",
    summary: "Delete a trace",
    text: "Deletes the trace permanently. Sending it again does not restore it.",
    answers: { 204: { text: "The trace is deleted." } },
    errors: {
      access_denied:
        "The token lacks the scope `delete`, or a browser's request did not come from this server's own pages.",
    },
  },
} satisfies Operation;

export const readMessageList = {
  methods: ["GET"],
  path: "/api/traces/{id}/messages",
  auth: "cookie-or-bearer",
  scope: "read",
  params,
  query: messagesQuery,
  response: messagesResponse,
  about: {
    group: "Traces",
    summary: "List a trace's messages",
    text: "By position. Continue with `after` from `nextAfter`, which is null at the end. A page has at most 8 MiB but at least one message, so it may be shorter than `limit`. Pages over 1 MiB are streamed, a few at a time per user; if one fails, the connection breaks.",
    answers: { 200: { text: "A page of messages.", example: { ok: true, messages, nextAfter: null } } },
    example: { query: { limit: "100" } },
    wrong: { query: { limit: "0" } },
  },
} satisfies Operation;

export const findMatches = {
  methods: ["GET"],
  path: "/api/traces/{id}/matches",
  auth: "cookie-or-bearer",
  scope: "read",
  params,
  query: matchesQuery,
  response: matchesResponse,
  about: {
    group: "Traces",
    summary: "Find a text in a trace",
    text: "Counts occurrences of the literal text `q` in contents and metadata, ignoring case. `places` lists positions of messages with their number of occurrences, at most 20,000; `total` and `messages` count all.",
    answers: { 200: { text: "The matches.", example: { ok: true, total: 1, messages: 1, places: [[0, 1]] } } },
    example: { query: { q: "retry test" } },
  },
} satisfies Operation;

export const readGrowth = {
  methods: ["GET"],
  path: "/api/traces/{id}/growth",
  auth: "cookie-or-bearer",
  scope: "read",
  params,
  query: growthQuery,
  response: growthResponse,
  about: {
    group: "Traces",
    summary: "Count a trace's new messages",
    text: "The number of messages after a position. `live` is true if the trace was active in the last minutes, by its own times; then `waiting` shows that its agent has finished (`waiting`) or asks something (`asking`), if known. With `Accept: text/event-stream`, the same without `ok` is sent as server-sent events: one at once, then one after each change, for a minute.",
    answers: { 200: { text: "Their number.", example: { ok: true, messages: 1, live: true, waiting: null } } },
    example: { query: { after: "0" } },
  },
} satisfies Operation;

const exported = {
  sourceId: trace.sourceId,
  source: trace.source,
  model: trace.model,
  title: trace.title,
  project: trace.project,
  createdAt: trace.createdAt,
  messages: messages.map(({ position, role, content, tokenCount, createdAt }) => ({
    position,
    role,
    content,
    ...(tokenCount === null ? {} : { tokenCount }),
    ...(createdAt === null ? {} : { createdAt }),
  })),
};

const file = (ending: string) => ({
  "Content-Disposition": { text: "A file name.", example: `attachment; filename="spoor-${trace.id}.${ending}"` },
});

export const exportTraceAsJson = {
  methods: ["GET"],
  path: "/api/traces/{id}/export.json",
  auth: "cookie-or-bearer",
  scope: "read",
  params,
  query: jsonQuery,
  about: {
    group: "Traces",
    summary: "Export a trace as JSON",
    text: "The whole trace as an item of `traces` of `POST /api/ingest`.",
    answers: {
      200: {
        text: "The trace.",
        schema: z.looseObject({ source: z.string(), sourceId: z.string(), messages: z.array(z.looseObject({})) }),
        headers: file("json"),
        example: exported,
      },
    },
    example: { query: { masked: "all" } },
    wrong: { query: { masked: "some" } },
  },
} satisfies Operation;

export const exportTraceAsMarkdown = {
  methods: ["GET"],
  path: "/api/traces/{id}/export.md",
  auth: "cookie-or-bearer",
  scope: "read",
  params,
  query: markdownQuery,
  about: {
    group: "Traces",
    summary: "Export a trace as Markdown",
    text: "The whole trace as it is stored, for reading. With `for=github` a text for a comment or a description there, of at most 60,000 characters: the messages `from` to `to` (positions, both included), each tool folded under its command, with secrets as `[redacted:KIND]`, home folders as `~` and no names of users and machines unless `plain=1`.",
    answers: {
      200: {
        text: "The trace.",
        type: "text/markdown",
        schema: z.string(),
        headers: file("md"),
        example: `# ${trace.title}\n\n## User\n\nThe retry test fails now and then.\n`,
      },
    },
    example: { query: { for: "github", from: "0" } },
    wrong: { query: { for: "print", from: "-1" } },
  },
} satisfies Operation;

export const exportTraceList = {
  methods: ["GET"],
  path: "/api/traces/export",
  auth: "cookie-or-bearer",
  scope: "read",
  query: exportQuery,
  about: {
    group: "Traces",
    summary: "Export traces",
    text: "Streams one trace per line, as an item of `traces` of `POST /api/ingest`. Accepts the list's filters; `id`, which may be repeated, selects single traces.",
    answers: {
      200: {
        text: "JSON Lines.",
        type: "application/x-ndjson",
        schema: z.string(),
        headers: {
          "Content-Disposition": { text: "A file name.", example: 'attachment; filename="spoor-traces.jsonl"' },
        },
        example: `${JSON.stringify(exported)}\n`,
      },
    },
    errors: {
      overloaded: {
        when: "Two of your exports are running, or the search took too long.",
        detail: "Your other exports are still running. Wait until one is done.",
      },
    },
    example: { query: { source: "claude-code" } },
    wrong: { query: { from: "yesterday" } },
  },
} satisfies Operation;

export const pictureHashParameter = sha256Text.meta({
  examples: ["ef1955ae757c8b966c83248350331bd3a30f658ced11f387f8ebf05ab3368629"],
});

export const pictureAnswer = {
  text: "The bytes as they were sent, with their own Content-Type.",
  type: "image/*",
  schema: z.string(),
  example: "GIF89a…",
} as const;

export const readTracePicture = {
  methods: ["GET"],
  path: "/api/traces/{id}/pictures/{sha256}",
  auth: "cookie-or-bearer",
  scope: "read",
  params: z.object({ id: z.uuid(), sha256: pictureHashParameter }),
  about: {
    group: "Traces",
    summary: "Get a picture",
    text: "A picture that a message of the trace names in `metadata.pictures`; 404 if it was not sent or only other traces name it.",
    partialExample: true,
    answers: { 200: pictureAnswer },
  },
} satisfies Operation;
