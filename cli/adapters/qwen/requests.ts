import { cacheByStamp, readLinesQuietly } from "../../files/file-cache.ts";
import { type Fields, isFields } from "../../files/json.ts";
import { addUsage, readTokens, subtractUsage, type Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";

type ByModel = Map<string, Usage>;

/**
 * A session's file has an event for each request except those in the background. At its end, a run records the sum of
 * the events so far and of its own requests in the background.
 */
export class UnansweredRequests {
  readonly #runs: readonly QwenRun[];
  readonly #transcripts: ReadonlySet<string>;
  readonly #until: ByModel[];
  readonly #own: ByModel = new Map();
  readonly #answered: ByModel = new Map();
  #hasEvents = false;

  constructor(runs: readonly QwenRun[], transcripts: ReadonlySet<string>) {
    this.#runs = runs;
    this.#transcripts = transcripts;
    this.#until = runs.map(() => new Map());
  }

  /** @param isCopied whether the event is another session's, although this one's runs include it */
  addEvent({ uiEvent }: Fields, isCopied: boolean): void {
    if (!isFields(uiEvent) || uiEvent["event.name"] !== "qwen-code.api_response") return;
    const model = asString(uiEvent.model);
    if (model === undefined) return;
    const usage = readTokens(
      {
        inputTokens: uiEvent.input_token_count,
        outputTokens: uiEvent.output_token_count,
        cacheReadTokens: uiEvent.cached_content_token_count,
        reasoningTokens: uiEvent.thoughts_token_count,
      },
      { includesCache: true },
    );
    this.#hasEvents = true;
    const at = Date.parse(asString(uiEvent["event.timestamp"]) ?? "");
    for (const [place, { endedAt }] of this.#runs.entries()) {
      if (!(at > endedAt)) add(this.#until[place], model, usage);
    }
    if (!isCopied && !this.#transcripts.has(parseAgent(uiEvent.prompt_id))) add(this.#own, model, usage);
  }

  addAnswer(model: unknown, usage: Usage | undefined): void {
    const name = asString(model);
    if (name && usage) add(this.#answered, name, usage);
  }

  listRemaining(): ByModel {
    const remaining: ByModel = new Map();
    if (!this.#hasEvents) return remaining;
    // Other names than the answers' models can't be matched.
    const own = [...this.#answered.keys()].every((model) => this.#own.has(model)) ? this.#own : [];
    for (const [model, usage] of own) add(remaining, model, subtractUsage(usage, this.#answered.get(model) ?? {}));
    for (const [place, { models }] of this.#runs.entries()) {
      for (const [model, usage] of models)
        add(remaining, model, subtractUsage(usage, this.#until[place]?.get(model) ?? {}));
    }
    return remaining;
  }
}

function add(to: ByModel | undefined, model: string, usage: Usage): void {
  to?.set(model, addUsage(to.get(model) ?? {}, usage));
}

/** The id is `SESSION#AGENT#NUMBER`. */
function parseAgent(promptId: unknown): string {
  const [, agent = ""] = /^[^#]+#([^#]+)#\d+$/.exec(asString(promptId) ?? "") ?? [];
  return agent.replace(/[^\w.-]/g, "_");
}

export type QwenRun = { endedAt: number; models: ReadonlyMap<string, Usage> };

export const readRuns = cacheByStamp<ReadonlyMap<string, readonly QwenRun[]>>(async (path) => {
  const runs = new Map<string, QwenRun[]>();
  await readLinesQuietly(path, ({ sessionId, timestamp, models }) => {
    const [id, endedAt] = [asString(sessionId), asCount(timestamp)];
    if (id === undefined || endedAt === undefined || !isFields(models)) return;
    const run = {
      endedAt,
      models: new Map(Object.entries(models).flatMap(([model, counts]) => readCounts(model, counts))),
    };
    runs.set(id, [...(runs.get(id) ?? []), run]);
  });
  return runs;
}, new Map());

function readCounts(model: string, counts: unknown): [string, Usage][] {
  if (!isFields(counts)) return [];
  const { inputTokens, outputTokens, cachedTokens: cacheReadTokens, thoughtsTokens: reasoningTokens } = counts;
  const reported = { inputTokens, outputTokens, cacheReadTokens, reasoningTokens };
  return [[model, readTokens(reported, { includesCache: true })]];
}
