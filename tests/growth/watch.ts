// Loaded into each process of a test: a statement of the application that a distributed database would refuse fails on one
// server as well. A test's own statements may be what they like.
import { isMainThread } from "node:worker_threads";

type Query = string | { text?: string; values?: unknown; submit?: unknown };
type Runner = (this: unknown, ...words: unknown[]) => unknown;

/** The texts that were allowed; parameters are bound, so that there are a few hundred. */
const allowed = new Set<string>();
const maxKept = 5000;

/** Whether the application asks: its modules or Prisma call, and no module of the tests that is nearer. */
function isApplication(): boolean {
  const frames = new Error().stack?.split("\n").slice(1) ?? [];
  const callers = frames.filter((frame) => !/node:|growth\/watch|\/lib\/db\//.test(frame));
  const own = callers.find((frame) => /\/(tests|lib|app)\//.test(frame) && !frame.includes("node_modules"));
  if (own) return !own.includes("/tests/");
  return callers.some((frame) => frame.includes("@prisma/adapter-pg"));
}

/** In place of a statement: PostgreSQL answers with an error that names the reason, wherever that is awaited. */
function refuse(asked: Query, reason: string): Query {
  const text = `'A distributed database would refuse this: ${reason.replaceAll("'", "")}'`;
  if (typeof asked === "string") return text;
  if (asked.submit) return Object.assign(asked, { text });
  return { ...asked, text, values: asked.values };
}

const globals = globalThis as typeof globalThis & { spoorWatches?: true };

// A worker of the tests loads this before each of its files; one watch is enough.
if (isMainThread && !globals.spoorWatches) {
  globals.spoorWatches = true;
  const { default: pg } = await import("pg");
  const { findRefusal } = await import("./rules.ts");
  const allow = (text: string) => allowed.size < maxKept && allowed.add(text);

  /** Texts that the application has asked a pool for, whose client is asked later, when nothing tells by whom. */
  const asked = new Set<string>();
  const toText = (query: Query) => (typeof query === "string" ? query : query?.text) ?? "";

  const askPool = pg.Pool.prototype.query as Runner;
  pg.Pool.prototype.query = function (this: unknown, query: Query, ...rest: unknown[]) {
    const text = toText(query);
    if (!allowed.has(text) && isApplication()) asked.add(text);
    return askPool.call(this, query, ...rest);
  } as typeof pg.Pool.prototype.query;

  const ask = pg.Client.prototype.query as Runner;
  pg.Client.prototype.query = function (this: unknown, query: Query, ...rest: unknown[]) {
    const text = toText(query);
    if (allowed.has(text)) return ask.call(this, query, ...rest);
    const reason = findRefusal(text);
    const isRefused = reason !== undefined && (asked.has(text) || isApplication());
    if (reason === undefined) allow(text);
    return ask.call(this, isRefused ? refuse(query, reason) : query, ...rest);
  } as typeof pg.Client.prototype.query;
}
