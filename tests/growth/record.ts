// Loaded into the processes of a server that a test has started (`--import`): writes each statement on tenant tables to a file,
// once a process, for the test run to check (recorded.ts). Checked here, each start would wait for the parser. Warnings of `pg`
// are written as well: its next major version refuses what it warns of.
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import pg from "pg";
import { tenantTables } from "#lib/db/tenant-tables";

type Query = string | { text?: string } | undefined;
type Runner = (this: unknown, ...words: unknown[]) => unknown;

const file = process.env.SPOOR_STATEMENTS_FILE;
const seen = new Set<string>();
/** Parameters are bound, so that there are a few hundred texts. */
const maxKept = 5000;

if (file && isMainThread) {
  process.on("warning", ({ name, message }) => {
    if (name === "DeprecationWarning" && message.includes("client.query()"))
      appendFileSync(file, `${JSON.stringify(`-- ${message}`)}\n`);
  });
  const ask = pg.Client.prototype.query as Runner;
  pg.Client.prototype.query = function (this: unknown, query: Query, ...rest: unknown[]) {
    const text = (typeof query === "string" ? query : query?.text) ?? "";
    if (seen.size < maxKept && !seen.has(text)) {
      seen.add(text);
      if (tenantTables.some((table) => text.includes(table))) appendFileSync(file, `${JSON.stringify(text)}\n`);
    }
    return ask.call(this, query, ...rest);
  } as typeof pg.Client.prototype.query;
}
