import { Cluster } from "./cluster.ts";
import type { SentTrace } from "./model.ts";
import { canary, Spoor } from "./spoor.ts";

/** What was done to Spoor, and what came of it, in words for the table. */
export type Outcome = { injected: string; outcome: string };

/** A row of the table. */
export type Fault = {
  /** As `npm run test:faults -- NAME` takes it. */
  name: string;
  /** As the table calls it. */
  title: string;
  group: "requests" | "processes";
  /** Whether it runs in `npm test`; where it has a shorter form, in that. */
  quick: boolean;
  /** Why it can't run on this machine; undefined where it can. */
  impossible?: () => Promise<string | undefined>;
  /** @throws where the outcome is not the required one. */
  run: (bench: Bench) => Promise<Outcome>;
};

/** What faults run on: one PostgreSQL, one Spoor for those that break nothing, and numbers that a seed decides. */
export class Bench {
  readonly cluster: Cluster;
  readonly quick: boolean;
  #shared: Promise<Spoor> | undefined;
  #state: number;
  #serial = 0;

  private constructor(cluster: Cluster, quick: boolean, seed: number) {
    this.cluster = cluster;
    this.quick = quick;
    this.#state = seed >>> 0;
  }

  static async start(options: { quick: boolean; seed: number }): Promise<Bench> {
    return new Bench(await Cluster.start(), options.quick, options.seed);
  }

  /** The Spoor of the faults that leave its processes as they are. */
  shared(): Promise<Spoor> {
    this.#shared ??= Spoor.start(this.cluster);
    return this.#shared;
  }

  /** Runs work with a Spoor of its own. */
  async withSpoor<T>(options: Parameters<typeof Spoor.start>[1], work: (spoor: Spoor) => Promise<T>): Promise<T> {
    const spoor = await Spoor.start(this.cluster, options);
    try {
      return await work(spoor);
    } finally {
      await spoor.stop();
    }
  }

  /** A number from 0 to below 1, by a linear congruential generator (Numerical Recipes). */
  random(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  /** A whole number from 0 to below `end`. */
  pick(end: number): number {
    return Math.floor(this.random() * end);
  }

  /** A trace that no other call makes. @param characters of each message */
  trace(messages: number, more: Partial<SentTrace> = {}, characters = 40): SentTrace {
    this.#serial += 1;
    const sourceId = more.sourceId ?? `${canary}-trace-${this.#serial}`;
    return { sourceId, source: "faults", ...more, messages: this.messages(messages, 0, characters) };
  }

  /** Messages with texts of their own. @param from the first position */
  messages(count: number, from = 0, characters = 40): SentTrace["messages"] {
    return Array.from({ length: count }, (_, at) => ({
      position: from + at,
      role: at % 2 === 0 ? "user" : "assistant",
      content: `${canary} ${this.pick(1e9)} `.padEnd(characters, "text "),
    }));
  }

  async stop(): Promise<void> {
    if (this.#shared) await (await this.#shared).stop();
    await this.cluster.stop();
  }
}
