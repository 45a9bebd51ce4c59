import "server-only";
import { Worker } from "node:worker_threads";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { SpoorError } from "#lib/core/errors";
import { atRest } from "#lib/core/memory";
import { describePlace, makeOperations, type Operations } from "#lib/ingest/decode/operations";
import type { DecoderAnswer, DecoderCall } from "#lib/ingest/decode/thread-entry";

type Input<O extends keyof Operations> = Parameters<Operations[O]>[0];
type OperationResult<O extends keyof Operations> = ReturnType<Operations[O]>;

export type Decoder = {
  /** @throws SpoorError if the batch is invalid */
  call<O extends keyof Operations>(
    operation: O,
    input: Input<O>,
    transfer?: ArrayBuffer[],
  ): Promise<Awaited<OperationResult<O>>>;
};

/** 256 MiB take about 5 s. Below a transaction's idle timeout (run-job.ts), so that a job counts an attempt. */
const callSeconds = 25;

type Waiting = { resolve: (result: unknown) => void; reject: (error: Error) => void; deadline: NodeJS.Timeout };

export class DecodeThread implements Decoder {
  #worker = new Worker(new URL("./thread-entry.ts", import.meta.url), { name: "decode" });
  #waiting = new Map<number, Waiting>();
  #lastId = 0;
  readonly #callMs: number;
  broken = false;

  constructor(callMs = callSeconds * 1000) {
    this.#callMs = callMs;
    this.#worker.unref();
    this.#worker.on("message", (answer: DecoderAnswer) => this.#settle(answer));
    this.#worker.on("error", (error) => this.#fail(new Error("the decoding thread failed", { cause: error })));
    this.#worker.on("exit", () => this.#fail(new Error("the decoding thread ended")));
  }

  call<O extends keyof Operations>(
    operation: O,
    input: Input<O>,
    transfer: ArrayBuffer[] = [],
  ): Promise<Awaited<OperationResult<O>>> {
    return new Promise<unknown>((resolve, reject) => {
      if (this.broken) return reject(new Error("the decoding thread is gone"));
      const id = ++this.#lastId;
      const deadline = setTimeout(() => this.#timeOut(), this.#callMs);
      this.#waiting.set(id, { resolve, reject, deadline });
      this.#worker.ref();
      const call: DecoderCall = { id, operation, input };
      this.#worker.postMessage(call, transfer);
    }) as Promise<Awaited<OperationResult<O>>>;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(answer: DecoderAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    clearTimeout(waiting?.deadline);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (answer.ok) waiting?.resolve(answer.result);
    else if ("code" in answer) waiting?.reject(new SpoorError(answer.code, answer.message, { errors: answer.errors }));
    else waiting?.reject(new Error(`decoding failed: ${answer.place}`));
  }

  #timeOut(): void {
    const message = `The body could not be read within ${this.#callMs / 1000} seconds. Send it again, or in smaller parts.`;
    this.#fail(new SpoorError("unavailable", message, { retryAfterSeconds: 30 }));
    this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.broken = true;
    for (const { reject, deadline } of this.#waiting.values()) {
      clearTimeout(deadline);
      reject(error);
    }
    this.#waiting.clear();
  }
}

/** Transferring a smaller batch to a thread takes longer than reading it. */
export const smallBytes = 64 * 1024;

export function decodeHere(): Decoder {
  const operations = makeOperations();
  return {
    async call<O extends keyof Operations>(operation: O, input: Input<O>): Promise<Awaited<OperationResult<O>>> {
      try {
        return (await (operations[operation] as (input: unknown) => unknown)(input)) as Awaited<OperationResult<O>>;
      } catch (error) {
        if (error instanceof SpoorError) throw error;
        throw new Error(`decoding failed: ${describePlace(error)}`);
      }
    },
  };
}

/** Each thread has a whole batch in memory. */
const maxThreads = 2;

type Threads = { idle: DecodeThread[]; queue: FairQueue };

const threads = oncePerProcess("decoding threads", (): Threads => ({ idle: [], queue: new FairQueue(maxThreads) }));

/** Runs `work` with a decoding thread, in turns by user. */
export async function withThread<T>(userId: string, work: (thread: DecodeThread) => Promise<T>): Promise<T> {
  atRest(endThreads);
  const { idle, queue } = threads;
  const giveBack = await queue.take(userId);
  try {
    const known = idle.pop();
    const thread = known && !known.broken ? known : new DecodeThread();
    try {
      return await work(thread);
    } finally {
      if (!thread.broken) idle.push(thread);
    }
  } finally {
    giveBack();
  }
}

export const onThread = <T>(userId: string, work: (thread: Decoder) => Promise<T>): Promise<T> =>
  withThread(userId, async (thread) => {
    try {
      return await work(thread);
    } finally {
      if (!thread.broken) await thread.call("close", undefined);
    }
  });

export async function endThreads(): Promise<void> {
  const idle = threads.idle.splice(0);
  await Promise.all(idle.map((thread) => thread.end()));
}
