import "server-only";
import { Worker } from "node:worker_threads";
import type { Operations } from "./operations";
import type { Call, DrawingAnswer } from "./thread-entry";

/** A last resort: drawing has its own limits. */
const callSeconds = 20;
/** A thread that needs more fails and is replaced. */
const maxMegabytes = 512;

export class DrawingThread {
  readonly #worker = new Worker(new URL("./thread-entry.ts", import.meta.url), {
    name: "draw",
    resourceLimits: { maxOldGenerationSizeMb: maxMegabytes },
  });
  #settle: ((answer: DrawingAnswer) => void) | undefined;
  broken = false;

  constructor() {
    this.#worker.unref();
    this.#worker.on("message", (answer: DrawingAnswer) => this.#settle?.(answer));
    this.#worker.on("error", (error) => this.#end(new Error("the drawing thread failed", { cause: error })));
    this.#worker.on("exit", () => this.#end(new Error("the drawing thread ended")));
  }

  async run<O extends keyof Operations>(
    operation: O,
    input: Parameters<Operations[O]>[0],
  ): Promise<Awaited<ReturnType<Operations[O]>>> {
    const deadline = setTimeout(() => {
      this.#end(new Error(`drawing took longer than ${callSeconds} s`));
      this.#worker.terminate();
    }, callSeconds * 1000);
    try {
      const answer = await new Promise<DrawingAnswer>((resolve) => {
        this.#settle = resolve;
        if (this.broken) this.#end(new Error("the drawing thread is gone"));
        const call: Call = { operation, input };
        this.#worker.postMessage(call);
      });
      if (!answer.ok) throw answer.error;
      return answer.result as Awaited<ReturnType<Operations[O]>>;
    } finally {
      clearTimeout(deadline);
      this.#settle = undefined;
    }
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.broken = true;
    this.#settle?.({ ok: false, error });
  }
}
