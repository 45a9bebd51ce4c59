import { z } from "zod";
import { limits } from "#lib/core/limits";
import type { Operation } from "#lib/http/operation";
import { listedTrace, messages, trace, wholeTrace } from "#lib/traces/examples";
import { exportQuery, jsonQuery, markdownQuery } from "#lib/traces/export-schema";
import { marksShape } from "#lib/traces/marks-schema";
import {
  changesQuery,
  changesResponse,
  facetsResponse,
  growthQuery,
  growthResponse,
  listQuery,
  listResponse,
  matchesQuery,
  matchesResponse,
  messagesQuery,
  messagesResponse,
  traceFilter,
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
    text: "Newest activity first; `order=best` puts what a search finds in the order of how well it matches, with `matches` at the first traces: their best messages (at most 500 traces; with `partial: true` no trace has all words, and those that have most are listed; `corrected` is what was searched for instead where words are in no trace). `q` is a search: words, longer words that begin so, quoted phrases, identifiers and paths as they are written; `-word` leaves out, `or` joins alternatives, and `file:`, `changed:`, `project:`, `branch:`, `agent:`, `model:`, `tool:`, `role:`, `in:title`, `before:`, `after:` and `has:error` narrow it: `query = term *( 1*space [ 'or' 1*space ] term )`, `term = [ '-' ] [ filter ':' ] ( word | phrase )` (docs/search.md). `from` and `to` narrow the list to a span of the last activity (`from` included, `to` not), `parent` to what came from one session, and `roots=true` to sessions that came from no other. `branch` is a Git branch's exact name, `commit` a hash or at least 7 of its first digits, and `pr` a pull request's URL, `OWNER/NAME#NUMBER`, or its number. `starred`, `archived`, `trivial` (no content) and `errors` (failed calls) are `true` or `false`; `tag` and `tool` are exact names, `file` is a file by the end of its path, `minCost` an amount in dollars, `minMessages` a number. `sort` is `activity`, `start`, `cost` or `length`, the highest first; a search keeps its own order. A repeated `source`, `model`, `project`, `projectId`, `machine`, `branch`, `file`, `tag` or `tool` (at most 20 times) lists traces that have any of its values. `project` is the text that came with a trace, `projectId` one of `GET /api/projects`. A page may have fewer traces than `limit`. Continue with `cursor` from `nextCursor`, which is null at the end.",
    answers: { 200: { text: "A page of the list.", example: { ok: true, traces: [listedTrace], nextCursor: null } } },
    errors: {
      invalid_request:
        "A parameter is not valid, `q` is no query (`errors` has the place in it), or the cursor is not one that this server made.",
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
    text: "The values that traces have as `source`, `model`, `project`, `machine`, `branch`, `tag` and `tool`, with how many have each; the 100 most frequent. A filter's own value does not narrow its values. `projectId` has the projects with their names.",
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
    text: "How many traces are newer in the list than the one with this `id` and `updatedAt`, counted up to 100. It takes the filters of the list; with `roots=true`, a session counts as changed where one below it was active later.",
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
    text: "`title` falls back to the first line of the first user message; `shortTitle` is what pages show, the name that a person gave or a short form of the title, and for a session with one commit and no title of its own the subject of that commit. `sanitized` means that characters which PostgreSQL can't store were replaced with U+FFFD. What follows `metadata` is derived from the messages a few seconds after an upload: `usage` has each token once, `inputTokens` without cached ones and `outputTokens` with `reasoningTokens`; `costNano` is what they cost by the prices of their day, in nano-dollars (10⁻⁹ US dollars), without `unpricedTokens`, those of models without a price, and with `tierNotPricedTokens` at the standard price, since the price list has none for their request's service tier; `recordedNano` is what the agent itself recorded. `parentId` is the session that started this one, or that it continues (`parentRelation`). Files and lines are those that it changed. `branches`, `commits` and `pullRequests` are those that the session's own messages prove, at most 500 of each; `evidence` says how, and `position` is the message that does: `git-commit`, `git-push`, `gh-pr-create` and `glab-mr-create` printed it, a `pull-request-tool` opened it, a `message` names it, the agent wrote it down (`session-meta`, `pr-link`), or the `client` found it.",
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
    text: "What is left out stays as it is. `title` takes the place of the agent's own, and null gives that back; `tags` replaces all tags, in lower case; `note` is plain text, and null removes it. An archived trace leaves the lists of pages, but no list of the API unless that asks. Sending the trace again keeps all of this; deleting it removes it. It is not part of an export.",
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
    text: "Permanently: sending it again does not bring it back.",
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
    text: "By position. Continue with `after` from `nextAfter`, which is null at the end. A page has at most 8 MiB, so it may be shorter than `limit`, but has at least one message, however large. One of more than a MiB is made while it is sent, a few at a time for a user; where it ends early, the connection breaks.",
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
    text: "Counts where `q` stands in the messages' contents and metadata, as it is written but for upper and lower case. Each of `places` is a message's position and how often the text stands in it, at most 20,000 of them; `total` and `messages` count all.",
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
    text: "The number of messages after a position: those that arrived since a reader saw the last one. `live` is whether the trace was active in the last minutes, by its own times; then `waiting` says that its agent has finished (`waiting`) or asks something (`asking`), where its format tells.",
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
    text: "The whole trace, in the form that `POST /api/ingest` takes as an item of `traces`.",
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
    text: "Streams one trace with its messages a line, in the form that `POST /api/ingest` takes as an item of `traces`. It takes the filters of the list; `id`, which may be repeated, selects single traces.",
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
        when: "Two exports of yours are running, or the search took too long.",
        detail: "Other exports of yours are running. Wait until one has ended.",
      },
    },
    example: { query: { source: "claude-code" } },
    wrong: { query: { from: "yesterday" } },
  },
} satisfies Operation;
