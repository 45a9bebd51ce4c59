import "server-only";
import { hkdfSync } from "node:crypto";
import { limitStatements } from "#lib/db/client";
import { env, setEnv } from "#lib/env";
import { hasOwnServer } from "#lib/http/address";
import { limits } from "#lib/limits";

/**
 * What every process that serves requests begins with, on whatever host: no statement that a request starts runs on and on,
 * and what a form's action closes over is encrypted with a key that all hosts share and no build contains.
 */
export async function startServing(): Promise<void> {
  limitStatements(limits.reads.statementSeconds);
  if (!hasOwnServer()) {
    const { startBare } = await import("#lib/server/bare");
    await startBare();
  }
  const { AUTH_SECRET } = env();
  if (AUTH_SECRET) setEnv({ NEXT_SERVER_ACTIONS_ENCRYPTION_KEY: actionsKey(AUTH_SECRET) });
}

/** Next's key for the values that actions close over: 32 bytes in base64, derived from the secret that all hosts share. */
const actionsKey = (secret: string) =>
  Buffer.from(hkdfSync("sha256", secret, "", "spoor server actions", 32)).toString("base64");
