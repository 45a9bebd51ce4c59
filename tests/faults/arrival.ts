// Faults of arriving bodies: aborted, too short, too long, too slow, too many.
import { once } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { openSocket } from "../api/client.ts";
import { expectAnswer, healthP99, leavingNothing, MiB, openUpload, refused, withMemory } from "./bodies.ts";
import type { Bench, Outcome } from "./fault.ts";
import { canary, type Spoor } from "./spoor.ts";
import { seconds, timed, untilPassed } from "./wait.ts";

type Run = (spoor: Spoor, bench: Bench) => Promise<Outcome>;

const wireMiB = 64;

/** The head of an upload's request, for a raw connection. */
const head = (spoor: Spoor, lengths: string) =>
  `POST /api/ingest HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${spoor.token}\r\nContent-Type: application/json\r\n${lengths}\r\n\r\n`;

const abort: Run = (spoor, bench) =>
  leavingNothing(spoor, async () => {
    const part = Buffer.concat([Buffer.from(`{"x":"${canary}`), Buffer.alloc(20 * MiB, "a")]);
    const round = async () => {
      const sockets = await Promise.all(Array.from({ length: 4 }, () => openSocket(spoor)));
      for (const { socket } of sockets) socket.write(head(spoor, `Content-Length: ${wireMiB * MiB}`));
      for (const { socket } of sockets) socket.write(part);
      await sleep(400);
      for (const { socket } of sockets) socket.resetAndDestroy();
      await sleep(200);
    };
    await round();
    const before = spoor.web.residentBytes() / MiB;
    const rounds = bench.quick ? 2 : 6;
    const { peak } = await withMemory(spoor.web, async () => {
      for (let n = 0; n < rounds; n += 1) await round();
    });
    const after = spoor.web.residentBytes() / MiB;
    expect(after - before).toBeLessThan(200);
    expect(await openFiles(spoor)).toEqual([]);
    // If aborted bytes still counted as in flight, there would be no room for these. A stalled body is given up after 20 s.
    await untilPassed(15, () => takesWholeBudget(spoor));
    await untilPassed(15, () => refused(spoor, "{", [400, "invalid_json"]));
    const growth = (to: number) => `${to - before < 0 ? "−" : "+"}${Math.abs(Math.round(to - before))} MiB`;
    return {
      injected: `${(rounds + 1) * 4} connections reset after 20 of ${wireMiB} MiB`,
      outcome: `nothing stored, no file left open, the whole budget free again; memory ${growth(peak)} at most, ${growth(after)} at the end`,
    };
  });

/** Opens as many uploads of the largest size as one user may have, and expects none to be refused. */
async function takesWholeBudget(spoor: Spoor): Promise<void> {
  const whole = Array.from({ length: 4 }, () => openUpload(spoor, { "Content-Length": String(wireMiB * MiB) }));
  try {
    for (const { request } of whole) request.write(" ");
    const answered = await Promise.race([Promise.any(whole.map(({ answer }) => answer)), sleep(700)]);
    expect(answered).toBeUndefined();
  } finally {
    for (const { request } of whole) request.destroy();
  }
}

/** Files that the web process has open, other than its code. */
async function openFiles(spoor: Spoor): Promise<string[]> {
  const folder = `/proc/${spoor.web.pid}/fd`;
  const links = await Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => ""))); // closed
  return links.filter((link) => link.startsWith("/tmp/"));
}

const length: Run = async (spoor, bench) => {
  const text = JSON.stringify({ traces: [bench.trace(2)] });
  const statuses = await leavingNothing(spoor, async () => {
    const ended = [];
    for (const lengths of [`Content-Length: ${text.length + 10}`, "Transfer-Encoding: chunked"]) {
      const { socket, ended: all } = await openSocket(spoor);
      const body = lengths.startsWith("Content") ? text : `${text.length.toString(16)}\r\n${text}\r\n`;
      socket.end(head(spoor, lengths) + body);
      ended.push((await all).slice(9, 12));
    }
    await sleep(200);
    return ended;
  });
  expect(statuses.filter((status) => status !== "400" && status !== "")).toEqual([]);
  const large = bench.trace(1200, {}, 10_000);
  expect(JSON.stringify({ traces: [large] }).length).toBeGreaterThan(11 * MiB);
  await spoor.jobIs(await spoor.upload([large]), "succeeded");
  return {
    injected: "a body 10 bytes shorter than its length, one without its last chunk; a body of 11 MiB",
    outcome: `${statuses.map((status) => status || "closed").join(", ")}; stored whole`,
  };
};

const oversize: Run = (spoor) =>
  leavingNothing(spoor, async () => {
    const { request, answer } = openUpload(spoor);
    let answered = false;
    answer.finally(() => {
      answered = true;
    });
    const chunk = Buffer.alloc(MiB, " ");
    let sent = 0;
    for (; sent < 200 && !answered; sent += 1) {
      if (!request.write(chunk)) await Promise.race([once(request, "drain"), answer]);
    }
    await expectAnswer(answer, 413, "payload_too_large");
    request.destroy();
    expect(sent).toBeLessThan(wireMiB + 40);
    return {
      injected: "up to 200 MiB in chunks",
      outcome: `413 when ${sent} MiB had left the client, for a cap of ${wireMiB}`,
    };
  });

/** Sends one byte per second until the server ends the request. */
async function trickle(spoor: Spoor, before: string, bytes: string): Promise<{ text: string; ms: number }> {
  const startedAt = performance.now();
  const { socket, ended } = await openSocket(spoor);
  socket.write(before);
  const timer = setInterval(() => socket.write(bytes), 1000);
  const text = await ended;
  clearInterval(timer);
  return { text, ms: performance.now() - startedAt };
}

const slow: Run = (spoor) =>
  leavingNothing(spoor, async () => {
    const headers = Array.from({ length: 20 }, () => trickle(spoor, "POST /api/ingest HTTP/1.1\r\nHost: a\r\n", "X"));
    const bodies = Array.from({ length: 3 }, () => trickle(spoor, head(spoor, "Content-Length: 100000"), " "));
    await sleep(5000);
    const { rows } = await spoor.db.query(
      `select count(*)::int as held from pg_stat_activity
       where datname = current_database() and application_name = 'spoor' and state <> 'idle'`,
    );
    expect(rows[0].held).toBe(0);
    const { ms } = await timed(() => spoor.read("/api/traces?limit=5"));
    expect(ms).toBeLessThan(500);
    const [heads, rest] = [await Promise.all(headers), await Promise.all(bodies)];
    expect(heads.map(({ text }) => text.slice(9, 12)).filter((status) => status !== "408" && status !== "")).toEqual(
      [],
    );
    expect(rest.map(({ text }) => text.slice(9, 12))).toEqual(["408", "408", "408"]);
    const last = (all: { ms: number }[]) => seconds(Math.max(...all.map((one) => one.ms)));
    return {
      injected: "20 connections with headers and 3 with bodies at a byte a second",
      outcome: `408 for the headers after ${last(heads)}, for the bodies after ${last(rest)}; no database connection held, others answered in ${Math.round(ms)} ms`,
    };
  });

const many: Run = async (spoor, bench) => {
  const batches = Array.from({ length: 8 }, () => Array.from({ length: 100 }, () => bench.trace(100, {}, 10_000)));
  const bodies = batches.map((traces) => gzipSync(JSON.stringify({ traces }), { level: 1 }));
  const decoded = JSON.stringify({ traces: batches[0] }).length;
  expect(decoded).toBeGreaterThan(100e6);
  let refusals = 0;
  const send = async (at: number) => {
    for (;;) {
      // Chunked: without a declared length the whole limit is reserved.
      const response = await fetch(`${spoor.url}/api/ingest`, {
        method: "POST",
        headers: { ...spoor.headers, "Content-Encoding": "gzip" },
        body: new Blob([Uint8Array.from(bodies[at] ?? [])]).stream(),
        duplex: "half",
      } as RequestInit);
      const { jobId } = (await response.json()) as { jobId: string };
      if (response.status === 202) return spoor.note(jobId, batches[at] ?? []);
      expect([response.status, Number(response.headers.get("retry-after")) >= 1]).toEqual([503, true]);
      refusals += 1;
      await sleep(500);
    }
  };
  const all = Promise.all(batches.map((_, at) => send(at)));
  const { result: p99, peak } = await withMemory(spoor.web, () => healthP99(spoor, all));
  await all;
  await spoor.drained(300);
  expect(refusals).toBeGreaterThan(0);
  expect(p99).toBeLessThan(100);
  return {
    injected: `8 bodies of ${Math.round(decoded / 1e6)} MB at once, compressed and in chunks`,
    outcome: `${refusals} times 503 with Retry-After, then all taken; /api/health p99 ${Math.round(p99)} ms, at most ${Math.round(peak)} MiB of memory`,
  };
};

/** The faults of bodies: name, title, function, and whether the fault is quick. */
export const bodyFaults: { name: string; title: string; run: Run; quick: boolean }[] = [
  { name: "abort", title: "Client aborts mid-body", run: abort, quick: true },
  {
    name: "length",
    title: "Body shorter than Content-Length; 11 MB body",
    run: length,
    quick: true,
  },
  { name: "oversize", title: "Oversize chunked body", run: oversize, quick: true },
  { name: "slow", title: "Slow headers, slow body (1 byte/s)", run: slow, quick: false },
];

/** Runs last: what it stores would slow down the comparison after every other fault. */
export const manyBodies = { name: "many", title: "8 × 100 MB bodies at once", run: many, quick: false };
