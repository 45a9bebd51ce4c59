import { Cluster } from "./cluster.ts";
import type { SentTrace } from "./model.ts";
import { canary, Spoor } from "./spoor.ts";

/** The injected fault and its outcome, as the table shows them. */
export type Outcome = { injected: string; outcome: string };

/** A row of the table. */
export type Fault = {
  /** The name for `npm run test:faults -- NAME`. */
  name: string;
  /** The title in the table. */
  title: string;
  group: "requests" | "processes";
  /** Whether it runs in `npm test`, in a shorter form if it has one. */
  quick: boolean;
  /** Why it cannot run on this machine; undefined if it can. */
  impossible?: () => Promise<string | undefined>;
  /** @throws if the outcome is not the required one. */
  run: (bench: Bench) => Promise<Outcome>;
};

/** What faults run on: one PostgreSQL, one Spoor for faults that leave its processes running, and seeded random numbers. */
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

  /** The Spoor shared by faults that leave its processes running. */
  shared(): Promise<Spoor> {
    this.#shared ??= Spoor.start(this.cluster);
    return this.#shared;
  }

  /** Runs work with a separate Spoor. */
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

  /** A unique trace. @param characters the length of each message */
  trace(messages: number, more: Partial<SentTrace> = {}, characters = 40): SentTrace {
    this.#serial += 1;
    const sourceId = more.sourceId ?? `${canary}-trace-${this.#serial}`;
    return { sourceId, source: "faults", ...more, messages: this.messages(messages, 0, characters) };
  }

  /** Messages with unique texts. @param from the first position */
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
