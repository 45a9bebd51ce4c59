// Loaded before a process's own code (`--import`): kills or stops it at a numbered step of its work, or shifts its clock.
// Controlled by environment variables that tests/faults/process.ts sets.
import { writeSync } from "node:fs";
import pg from "pg";

const { FAULT_POINT = "0", FAULT_SIGNAL = "SIGKILL", FAULT_TEXT, FAULT_CLOCK_MS = "0" } = process.env;
const wantedPoint = Number(FAULT_POINT);
const clockShiftMs = Number(FAULT_CLOCK_MS);

/** Marks the lines on stderr that report where the process was broken, or each point if none is chosen. */
const say = (line: string) => writeSync(2, `fault: ${line}\n`);

function breakHere(where: string): void {
  say(where);
  process.kill(process.pid, FAULT_SIGNAL);
}

type Statement = string | { text?: string; values?: unknown[] };
type Connection = { connectionParameters: { application_name?: string } };

/** Whether a statement is a step of a request or a job, unlike heartbeats and the queue's maintenance. */
function isStep({ connectionParameters }: Connection, sql: string): boolean {
  if (connectionParameters.application_name === "spoor") return !/process_heartbeat|rate_limit/.test(sql);
  return /set completed_on\b/i.test(sql) && sql.includes("state = 'completed'");
}

let points = 0;
const query = pg.Client.prototype.query as (this: Connection, ...words: unknown[]) => unknown;

function watched(this: Connection, ...words: unknown[]): unknown {
  const [statement, given] = words as [Statement, unknown];
  const sql = (typeof statement === "string" ? statement : statement.text) ?? "";
  if (FAULT_TEXT) {
    const values = Array.isArray(given) ? given : (statement as { values?: unknown[] }).values;
    if (JSON.stringify(values ?? []).includes(FAULT_TEXT)) breakHere("its text came");
  }
  if (!isStep(this, sql)) return query.apply(this, words);
  // Each statement has two points: before it is sent, and after it was sent but not answered.
  const label = sql.trim().replaceAll(/\s+/g, " ").slice(0, 48);
  points += 1;
  if (points === wantedPoint) breakHere(`point ${points}, before "${label}"`);
  const result = query.apply(this, words);
  points += 1;
  if (points === wantedPoint) setImmediate(breakHere, `point ${points}, behind "${label}"`);
  else if (wantedPoint === 0) say(`point ${points}, behind "${label}"`);
  if (/^commit\b/i.test(label)) (result as Promise<unknown>).then(answered, () => {});
  return result;
}

/** A commit has a third point: after it was answered, before anything else happens. */
function answered(): void {
  points += 1;
  if (points === wantedPoint) breakHere(`point ${points}, "commit" answered`);
  else if (wantedPoint === 0) say(`point ${points}, "commit" answered`);
}

pg.Client.prototype.query = watched as typeof pg.Client.prototype.query;

if (clockShiftMs !== 0) {
  const RealDate = Date;
  const now = () => RealDate.now() + clockShiftMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (_, words: []) => (words.length === 0 ? new RealDate(now()) : new RealDate(...words)),
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
}
