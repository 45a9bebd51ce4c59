import "server-only";
import { runAdmin } from "#lib/server/admin-commands";
import { runCommand } from "#lib/server/command";
import { prepareSchema, withDatabase } from "#lib/server/database";

await runCommand(() =>
  runAdmin(process.argv.slice(2), (work) =>
    withDatabase(async () => {
      await prepareSchema();
      await work();
    }),
  ),
);
