// Loaded into each process of a test: a statement of the application that a distributed database would refuse fails on one
// server as well. A test's own statements may be what they like.
import { isMainThread } from "node:worker_threads";

type Query = string | { text?: string; values?: unknown; submit?: unknown };
type Runner = (this: unknown, ...words: unknown[]) => unknown;

/** The texts that were allowed; parameters are bound, so that there are a few hundred. */
const allowed = new Set<string>();
const maxKept = 5000;

/** Whether a module of the tests calls, and not one of the application. */
function isTests(): boolean {
  const frames = new Error().stack?.split("\n").slice(1) ?? [];
  const caller = frames.find((frame) => !/node_modules|node:|growth\/watch/.test(frame));
  return caller !== undefined && /\/tests\//.test(caller);
}

/** In place of a statement: PostgreSQL answers with an error that names the reason, wherever that is awaited. */
function refuse(asked: Query, reason: string): Query {
  const text = `'A distributed database would refuse this: ${reason.replaceAll("'", "")}'`;
  if (typeof asked === "string") return text;
  if (asked.submit) return Object.assign(asked, { text });
  return { ...asked, text, values: asked.values };
}

if (isMainThread) {
  const { default: pg } = await import("pg");
  const { refusalOf } = await import("./rules.ts");
  const allow = (text: string) => allowed.size < maxKept && allowed.add(text);

  /** Only a pool still knows who called; its client is asked later. */
  const askPool = pg.Pool.prototype.query as Runner;
  pg.Pool.prototype.query = function (this: unknown, asked: Query, ...rest: unknown[]) {
    const text = (typeof asked === "string" ? asked : asked?.text) ?? "";
    if (!allowed.has(text) && isTests()) allow(text);
    return askPool.call(this, asked, ...rest);
  } as typeof pg.Pool.prototype.query;

  const ask = pg.Client.prototype.query as Runner;
  pg.Client.prototype.query = function (this: unknown, asked: Query, ...rest: unknown[]) {
    const text = (typeof asked === "string" ? asked : asked?.text) ?? "";
    if (allowed.has(text)) return ask.call(this, asked, ...rest);
    const reason = refusalOf(text);
    const isRefused = reason !== undefined && !isTests();
    if (!isRefused) allow(text);
    return ask.call(this, isRefused ? refuse(asked, reason) : asked, ...rest);
  } as typeof pg.Client.prototype.query;
}
