// A process that is started while its database is still being made: it loads its code meanwhile, and waits before it uses any of it.
import { setEnv } from "#lib/env";
import { heldWord, type Told } from "#lib/server/held-word";

const told = { variables: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() };

/** Waits until the variables are told that are known before there is a database. */
export const whenToldVariables = (): Promise<void> => told.variables.promise;

/** Waits until the database may be used. */
export const whenLetGo = (): Promise<void> => told.go.promise;

/** Until it is let go, a process has nothing that would have to end in order. */
const end = (): void => process.exit(0);

function take(message: Told): void {
  if ("variables" in message) {
    setEnv(message.variables);
    told.variables.resolve();
    return;
  }
  for (const event of ["SIGTERM", "disconnect"]) process.off(event, end);
  process.off("message", take);
  told.go.resolve();
}

if (process.argv.includes(heldWord)) {
  for (const event of ["SIGTERM", "disconnect"]) process.on(event, end);
  process.on("message", take);
} else {
  told.variables.resolve();
  told.go.resolve();
}
