import { type Fields, isFields } from "../../files/json.ts";
import { addUsage, subtractUsage, type Usage } from "../usage.ts";
import { asString } from "../values.ts";
import { type Run, readTokens } from "./runs.ts";

type ByModel = Map<string, Usage>;

/**
 * Finds the requests that no answer tells.
 *
 * - A session's file has an event for each request but those in the background, such as for suggestions: also for those of
 *   agents without a transcript, such as the ones that keep the memory.
 * - At its end, a run records the sum of the events so far and of its own requests in the background.
 */
export class Requests {
  readonly #runs: readonly Run[];
  /** The agents that have a session of their own. */
  readonly #transcripts: ReadonlySet<string>;
  /** For each run, the events until its end. */
  readonly #until: ByModel[];
  readonly #own: ByModel = new Map();
  readonly #answered: ByModel = new Map();
  #hasEvents = false;

  constructor(runs: readonly Run[], transcripts: ReadonlySet<string>) {
    this.#runs = runs;
    this.#transcripts = transcripts;
    this.#until = runs.map(() => new Map());
  }

  /** @param isCopied whether the event is another session's: then it is counted there, but this one's runs include it */
  addEvent({ uiEvent }: Fields, isCopied: boolean): void {
    if (!isFields(uiEvent) || uiEvent["event.name"] !== "qwen-code.api_response") return;
    const model = asString(uiEvent.model);
    if (model === undefined) return;
    const usage = readTokens(
      uiEvent.input_token_count,
      uiEvent.output_token_count,
      uiEvent.cached_content_token_count,
      uiEvent.thoughts_token_count,
    );
    this.#hasEvents = true;
    const at = Date.parse(asString(uiEvent["event.timestamp"]) ?? "");
    for (const [place, { endedAt }] of this.#runs.entries()) {
      if (!(at > endedAt)) add(this.#until[place], model, usage);
    }
    if (!isCopied && !this.#transcripts.has(agentIn(uiEvent.prompt_id))) add(this.#own, model, usage);
  }

  addAnswer(model: unknown, usage: Usage | undefined): void {
    const name = asString(model);
    if (name && usage) add(this.#answered, name, usage);
  }

  /** What no answer tells, by model; none in versions without events. */
  rest(): ByModel {
    const rest: ByModel = new Map();
    if (!this.#hasEvents) return rest;
    // Under other names than the answers' models, events can't be told from those of the answers.
    const own = [...this.#answered.keys()].every((model) => this.#own.has(model)) ? this.#own : [];
    for (const [model, usage] of own) add(rest, model, subtractUsage(usage, this.#answered.get(model) ?? {}));
    for (const [place, { models }] of this.#runs.entries()) {
      for (const [model, usage] of models) add(rest, model, subtractUsage(usage, this.#until[place]?.get(model) ?? {}));
    }
    return rest;
  }
}

function add(to: ByModel | undefined, model: string, usage: Usage): void {
  to?.set(model, addUsage(to.get(model) ?? {}, usage));
}

/** The agent in a prompt's id, `SESSION#AGENT#NUMBER`, as its transcript is named; "" for the session's own. */
function agentIn(promptId: unknown): string {
  const [, agent = ""] = /^[^#]+#([^#]+)#\d+$/.exec(asString(promptId) ?? "") ?? [];
  return agent.replace(/[^\w.-]/g, "_");
}
