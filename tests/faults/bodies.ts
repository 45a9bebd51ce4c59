import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import { expect } from "vitest";
import { type Answer, asResponse, expectProblem, openRequest } from "../api/client.ts";
import type { SpoorProcess } from "./process.ts";
import type { Spoor } from "./spoor.ts";

export const MiB = 1 << 20;
export const encoders: Record<string, (body: Uint8Array) => Buffer> = {
  gzip: (body) => gzipSync(body, { level: 1 }),
  br: (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (body) => zstdCompressSync(body),
};

/** Sends bytes unchanged. @param headers override those of a JSON upload with the owner's token */
export function sendBytes(spoor: Spoor, body: Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${spoor.url}/api/ingest`, {
    method: "POST",
    headers: { ...spoor.headers, ...headers },
    body: Uint8Array.from(body),
  });
}

/** Sends a text or a value and expects it to be refused. @returns the paths of its errors */
export async function refused(
  spoor: Spoor,
  body: unknown,
  [status, code]: [number, string],
  headers: Record<string, string> = {},
): Promise<string[]> {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const problem = await expectProblem(await sendBytes(spoor, bytes, headers), status, code);
  return problem.errors?.map(({ path }) => path) ?? [];
}

/** Opens a request whose body is not sent, or only in part. */
export function openUpload(spoor: Spoor, headers: Record<string, string> = {}) {
  return openRequest(spoor, "/api/ingest", { headers: { ...spoor.headers, ...headers } });
}

export async function expectAnswer(answer: Promise<Answer>, status: number, code: string): Promise<void> {
  await expectProblem(asResponse(await answer), status, code);
}

/** Runs work and returns a process's peak resident memory meanwhile, and before, in MiB. */
export async function withMemory<T>(one: SpoorProcess, work: () => Promise<T>) {
  const before = one.residentBytes() / MiB;
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, one.residentBytes() / MiB);
  }, 20);
  try {
    const result = await work();
    return { result, before, peak };
  } finally {
    clearInterval(sampler);
  }
}

/** Runs work that must not store anything. */
export async function leavingNothing<T>(spoor: Spoor, work: () => Promise<T>): Promise<T> {
  const before = await stored(spoor);
  const result = await work();
  expect(await stored(spoor)).toEqual(before);
  return result;
}

/** The numbers of rows in the tables that an upload writes. */
async function stored(spoor: Spoor): Promise<unknown> {
  const { rows } = await spoor.db.query(
    `select (select count(*) from ingest_job) as jobs, (select count(*) from upload) as uploads,
       (select count(*) from trace) as traces, (select count(*) from message) as messages,
       (select count(*) from pgboss.job where name = 'ingest') as queued,
       (select count(*) from telemetry_report) as reports`,
  );
  return rows[0];
}

/** The 99th percentile of `/api/health`'s latency during some work, in milliseconds. */
export async function healthP99(spoor: Spoor, happening: Promise<unknown>): Promise<number> {
  let waiting = true;
  const end = () => {
    waiting = false;
  };
  happening.then(end, end);
  const times: number[] = [];
  while (waiting) {
    const startedAt = performance.now();
    await (await fetch(`${spoor.url}/api/health`)).text();
    times.push(performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? 0;
}
