// Loaded into the shared web process (`--import`), to change its environment variables while it runs.
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { isMainThread } from "node:worker_threads";

/** The variable that names the socket on which a process accepts variables. */
const place = "SPOOR_TESTS_TELL_AT";

type Variables = Record<string, string | undefined>;

/** The options for a process that accepts variables at `socket`. */
export const tellable = (socket: string): { option: string; environment: Record<string, string> } => ({
  option: `--import=${import.meta.url}`,
  environment: { [place]: socket },
});

/** Sets variables of a process that listens at `socket`; undefined unsets. They apply to its next request. */
export async function tell(socket: string, variables: Variables): Promise<void> {
  const connection = connect({ path: socket, allowHalfOpen: true }).resume();
  connection.end(JSON.stringify(Object.entries(variables)));
  await once(connection, "end");
}

const socket = process.env[place];
if (socket && isMainThread) {
  delete process.env[place];
  await rm(socket, { force: true });
  createServer({ allowHalfOpen: true }, async (connection) => {
    const variables = JSON.parse(await text(connection)) as [name: string, value: string | null][];
    const { setEnv } = await import("#lib/core/env");
    setEnv(Object.fromEntries(variables.map(([name, value]) => [name, value ?? undefined])));
    connection.end();
  })
    .listen(socket)
    .unref();
}
