import type { Fields } from "../../files/json.ts";
import type { Unhandled } from "../adapter.ts";
import { joinBlockTexts } from "../blocks.ts";
import type { ToolOutcome } from "../messages.ts";
import { formatInlineData } from "../pictures.ts";
import { asCount, asFields, asString, dropOldest, joinTexts, listFields } from "../values.ts";

export function readOutput(result: unknown, error: unknown, assets: Assets, unhandled: Unhandled): string {
  if (typeof result === "string") return result;
  const { content, binaryResultsForLlm: binary } = asFields(result);
  const failure = asString(asFields(error).message) ?? asString(error);
  const text = joinBlockTexts(content, unhandled) || failure;
  return joinTexts([text, ...assets.findTexts(binary)]);
}

const maxAssets = 100;

/** Files precede the results and questions that name them. */
export class Assets {
  readonly #texts = new Map<string, string>();

  note(asset: Fields): void {
    const id = asString(asset.assetId);
    if (!id) return;
    this.#texts.set(id, formatInlineData(asset));
    dropOldest(this.#texts, maxAssets);
  }

  findTexts(list: unknown): string[] {
    return listFields(list).flatMap((one) => {
      if (asString(one.data)) return formatInlineData(one);
      return this.#texts.get(asString(one.assetId) ?? "") ?? [];
    });
  }
}

export function readOutcome({ success, result, toolTelemetry, shellExecution, fileEdits }: Fields): ToolOutcome {
  const metrics = asFields(asFields(toolTelemetry).metrics);
  const details = asString(asFields(result).detailedContent);
  return {
    isError: success === false,
    exitCode: asCount(asFields(shellExecution).exitCode) ?? asCount(metrics.exit_code),
    durationMs: asCount(metrics.durationMs),
    patch: details && readPatch(details, listFields(fileEdits)),
  };
}

function readPatch(details: string, edits: Fields[]): string | undefined {
  if (!/^\s*(?:diff --git |--- )/.test(details) || !/^(?:\+(?!\+\+ )|-(?!-- ))/m.test(details)) return undefined;
  const paths = new Map(edits.map(({ path }) => [String(path).replace(/^\//, ""), String(path)]));
  return details
    .replace(/^(?:diff --git |(?:create|new|deleted) file mode |index [0-9a-f]+\.\.).*\n/gm, "")
    .replace(/^(---|\+\+\+) [ab]\/(.+)$/gm, (heading, sign: string, name: string) => {
      if (name === "dev/null") return `${sign} /dev/null`;
      return paths.has(name) ? `${sign} ${paths.get(name)}` : heading;
    })
    .trimStart();
}
