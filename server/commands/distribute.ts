// docs/growth.md.
import "server-only";
import { requiredEnv } from "#lib/core/env";
import { EnvError, UsageError } from "#lib/core/errors";
import { operatorCommand } from "#lib/core/variables/operator-command";
import { distribute, type Plan, planDistribution } from "#lib/db/sql/distribute";
import { tenantTables } from "#lib/db/tenant-tables";
import { runCommand, say } from "#server/commands/command";

const help = `Usage: ${operatorCommand("distribute")}
       ${operatorCommand("distribute", "--check")}

Spreads the rows of users over the nodes of DATABASE_URL, a coordinator with the
extension citus. Stop Spoor first: uploads wait while rows are moved.

  --check   only report what would be done or would fail`;

const counted = (count: number, one: string) => `${count} ${count === 1 ? one : `${one}s`}`;
const countNodes = (nodes: number) => (nodes === 0 ? "No node but the coordinator" : counted(nodes, "node"));

function describe({ nodes, distributed, waiting, remaining }: Plan): string {
  const rest = remaining.length > 0 ? ` Former rows on the coordinator, to be removed: ${remaining.join(", ")}.` : "";
  return `${countNodes(nodes)}; ${counted(distributed.length, "table")} distributed already, ${waiting.length} to be.${rest}`;
}

await runCommand(async () => {
  const words = process.argv.slice(2);
  if (words.includes("--help")) return say(help);
  if (words.some((word) => word !== "--check")) throw new UsageError(help);
  const url = requiredEnv("DATABASE_URL");
  if (!words.includes("--check")) {
    const { nodes } = await distribute(url, say);
    say(`${countNodes(nodes)}; all ${tenantTables.length} tables are distributed.`);
    return;
  }
  const plan = await planDistribution(url);
  say(describe(plan));
  if (plan.problems.length > 0) throw new EnvError(`This would fail:\n- ${plan.problems.join("\n- ")}`);
  say("Nothing would fail.");
});
