// What a tool's execution tells: its output, and what became of it.
import { type Fields, isFields } from "../../files/json.ts";
import { joinBlockTexts } from "../blocks.ts";
import type { ToolOutcome } from "../messages.ts";
import { inlineText } from "../pictures.ts";
import { asCount, asString } from "../values.ts";

export function readOutput(result: unknown, error: unknown, assets: Assets, unhandled: (type: string) => void): string {
  if (typeof result === "string") return result;
  const { content, binaryResultsForLlm: binary } = isFields(result) ? result : ({} as Fields);
  const failure = isFields(error) ? asString(error.message) : asString(error);
  const text = joinBlockTexts(content, unhandled) || failure;
  return [text, ...assets.findTexts(binary)].filter(Boolean).join("\n");
}

const maxAssets = 100;

/** Files that an event of their own holds, before results and questions that name them. */
export class Assets {
  readonly #texts = new Map<string, string>();

  note(asset: Fields): void {
    const id = asString(asset.assetId);
    if (!id) return;
    this.#texts.set(id, inlineText(asset));
    const [oldest] = this.#texts.keys();
    if (this.#texts.size > maxAssets && oldest) this.#texts.delete(oldest);
  }

  /** Placeholders for those in a list that are there. */
  findTexts(list: unknown): string[] {
    return (Array.isArray(list) ? list.filter(isFields) : []).flatMap((one) => {
      if (asString(one.data)) return inlineText(one);
      return this.#texts.get(asString(one.assetId) ?? "") ?? [];
    });
  }
}

/** Whether a tool failed, how long it took, a command's exit code, and what it changed in files. */
export function readOutcome({ success, result, toolTelemetry, shellExecution, fileEdits }: Fields): ToolOutcome {
  const metrics = isFields(toolTelemetry) && isFields(toolTelemetry.metrics) ? toolTelemetry.metrics : {};
  const details = isFields(result) ? asString(result.detailedContent) : undefined;
  return {
    isError: success === false,
    exitCode: (isFields(shellExecution) ? asCount(shellExecution.exitCode) : undefined) ?? asCount(metrics.exit_code),
    durationMs: asCount(metrics.durationMs),
    patch: details && patchIn(details, Array.isArray(fileEdits) ? fileEdits.filter(isFields) : []),
  };
}

/** The unified diff among a result's details, with the files' whole paths; undefined where it changes nothing. */
function patchIn(details: string, edits: Fields[]): string | undefined {
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
