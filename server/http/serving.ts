import "server-only";
import { limits } from "#lib/core/limits";
import { limitStatements } from "#lib/db/client";
import { hasOwnServer } from "#lib/http/address";

export async function startServing(): Promise<void> {
  limitStatements(limits.reads.statementSeconds);
  if (hasOwnServer()) return;
  const { startBare } = await import("#server/http/bare");
  await startBare();
}
