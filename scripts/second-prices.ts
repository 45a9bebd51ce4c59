// `npm run prices -- VERSION`: makes lib/prices/second.json anew, from the data of models.dev
// in that version of the npm package @earendil-works/pi-ai: what models cost that the price list does not have.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listed } from "#lib/prices/catalog";
import { parseModelName } from "#lib/prices/model";
import { atRouter } from "#lib/prices/nearest";

/** Makers of models, then those that serve others': the first that has a model tells its price. */
const providers = `anthropic openai google deepseek moonshotai minimax mistral xai xiaomi zai meta
  together vercel-ai-gateway openrouter`.split(/\s+/);
const source = "@earendil-works/pi-ai";

type Cost = { input: number; output: number; cacheRead?: number; cacheWrite?: number };
type Model = { type?: string; id: string; cost?: Cost & { tiers?: (Cost & { inputTokensAbove: number })[] } };

const kinds = [
  ["input", "input_mtok"],
  ["output", "output_mtok"],
  ["cacheRead", "cache_read_mtok"],
  ["cacheWrite", "cache_write_mtok"],
] as const;

/** The prices as the list's format has them. A kind without a price costs what the input does. */
function convertPrices({ tiers = [], ...cost }: NonNullable<Model["cost"]>) {
  const prices = kinds.flatMap(([kind, name]) => {
    const base = cost[kind];
    if (!base) return [];
    const higher = tiers.flatMap((tier) => {
      const price = tier[kind];
      return price && price !== base ? [{ start: tier.inputTokensAbove, price }] : [];
    });
    return [[name, higher.length > 0 ? { base, tiers: higher } : base]];
  });
  return Object.fromEntries(prices);
}

function readModels(folder: string) {
  const at = new Date();
  const models: Record<string, { provider: string; prices: object }> = {};
  for (const provider of providers) {
    const data = JSON.parse(readFileSync(join(folder, "dist/providers/data", `${provider}.json`), "utf8"));
    for (const { type, id, cost } of Object.values(data as Record<string, object>).flatMap(
      (one) => Object.values(one) as Model[],
    )) {
      const name = parseModelName(id.split("/").at(-1) ?? "");
      if (
        (type !== undefined && type !== "chat" && type !== "text") ||
        !name ||
        id.includes(":") ||
        !cost?.input ||
        !cost.output
      )
        continue;
      if (models[name.model] || listed(name, { at }) || atRouter(name, at)) continue;
      models[name.model] = { provider, prices: convertPrices(cost) };
    }
  }
  return models;
}

const [version = "latest"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "prices-"));
try {
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", folder, `${source}@${version}`]);
  const [{ filename, version: got }] = JSON.parse(packed.toString("utf8"));
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", folder]);
  const about = { source: `models.dev, as ${source} ${got} has it`, day: new Date().toISOString().slice(0, 10) };
  const models = readModels(join(folder, "package"));
  writeFileSync("lib/prices/second.json", `${JSON.stringify({ ...about, models })}\n`);
  process.stdout.write(`${Object.keys(models).length} models\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
