import "server-only";
import { limitStatements } from "#lib/db/client";
import { hasOwnServer } from "#lib/http/address";
import { limits } from "#lib/limits";

/** What every process that serves requests begins with, on whatever host: no statement that a request starts runs on and on. */
export async function startServing(): Promise<void> {
  limitStatements(limits.reads.statementSeconds);
  if (hasOwnServer()) return;
  const { startBare } = await import("#lib/server/bare");
  await startBare();
}
