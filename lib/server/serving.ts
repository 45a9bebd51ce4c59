import "server-only";
import { limitStatements } from "#lib/db/client";
import { limits } from "#lib/limits";

/** What every process that serves requests begins with, on whatever host: no statement that a request starts runs on and on. */
export function startServing(): void {
  limitStatements(limits.reads.statementSeconds);
}
