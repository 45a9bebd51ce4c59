import "server-only";
import { runAdmin } from "#server/commands/admin-commands";
import { runCommand } from "#server/commands/command";
import { prepareSchema, withDatabase } from "#server/commands/database";

await runCommand(() =>
  runAdmin(process.argv.slice(2), (work) =>
    withDatabase(async () => {
      await prepareSchema();
      await work();
    }),
  ),
);
