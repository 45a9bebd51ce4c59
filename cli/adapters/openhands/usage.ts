import { type Fields, isFields } from "../../files/json.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asFields, asString } from "../values.ts";

export type Response = { model: string | undefined; usage: Usage; costUsd: number | undefined };

export function readResponses({ stats }: Fields): Map<string, Response> {
  const responses = new Map<string, Response>();
  const byUse = isFields(stats) && isFields(stats.usage_to_metrics) ? Object.values(stats.usage_to_metrics) : [];
  for (const metrics of byUse.filter(isFields)) {
    const usages = Array.isArray(metrics.token_usages) ? metrics.token_usages : [];
    const costs = Array.isArray(metrics.costs) ? metrics.costs : [];
    for (const [index, used] of usages.entries()) {
      if (!isFields(used)) continue;
      // Costs name no response, but are in the same order if there is one for each.
      const cost = costs.length === usages.length ? asFields(costs[index]).cost : undefined;
      responses.set(asString(used.response_id) ?? `response ${responses.size}`, {
        model: asString(used.model) ?? asString(metrics.model_name),
        usage: readUsage(used),
        costUsd: typeof cost === "number" ? cost : undefined,
      });
    }
  }
  return responses;
}

function readUsage(used: Fields): Usage {
  return readTokens(
    {
      inputTokens: used.prompt_tokens,
      outputTokens: used.completion_tokens,
      cacheReadTokens: used.cache_read_tokens,
      cacheWriteTokens: used.cache_write_tokens,
      reasoningTokens: used.reasoning_tokens,
    },
    { includesCache: true },
  );
}
