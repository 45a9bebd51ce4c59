import { randomBytes, randomUUID } from "node:crypto";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { expect } from "vitest";
import { unknownToken } from "../api/client.ts";
import { bodyFaults, manyBodies } from "./arrival.ts";
import { encoders, expectAnswer, leavingNothing, MiB, openUpload, refused, sendBytes, withMemory } from "./bodies.ts";
import type { Bench, Fault, Outcome } from "./fault.ts";
import type { SentTrace } from "./model.ts";
import { canary, type Spoor } from "./spoor.ts";

type Run = (spoor: Spoor, bench: Bench) => Promise<Outcome>;

/** A fault in requests: it runs on the shared Spoor, whose state is checked afterwards. */
const request = (name: string, title: string, run: Run, quick = true): Fault => ({
  name,
  title,
  group: "requests",
  quick,
  run: async (bench) => {
    const spoor = await bench.shared();
    const pids = spoor.processes.map(({ pid }) => pid);
    const { injected, outcome } = await run(spoor, bench);
    expect(spoor.processes.map(({ pid, isAlive }) => isAlive && pid)).toEqual(pids);
    return { injected, outcome: `${outcome}; ${await spoor.check()}` };
  },
});

const badCompression: Run = (spoor, bench) =>
  leavingNothing(spoor, async () => {
    const batch = Buffer.from(JSON.stringify({ traces: [bench.trace(5, {}, 2000)] }));
    let count = 0;
    for (const [encoding, encode] of Object.entries(encoders)) {
      const whole = encode(batch);
      const corrupt = Buffer.from(whole);
      corrupt.fill(0xff, 8, 14);
      const wrong = [
        ...[0, 5, whole.length >> 1, whole.length - 1].map((end) => whole.subarray(0, end)),
        corrupt,
        ...["\0", "junk", "\x1f\x8b\x08"].map((junk) => Buffer.concat([whole, Buffer.from(junk, "latin1")])),
        randomBytes(300),
      ];
      for (const body of wrong) {
        await refused(spoor, body, [400, "invalid_request"], { "Content-Encoding": encoding });
        count += 1;
      }
    }
    return {
      injected: `${count} streams cut off, corrupt or with junk behind them, in gzip, br and zstd`,
      outcome: "400",
    };
  });

const badEncoding: Run = (spoor) =>
  leavingNothing(spoor, async () => {
    const names = ["deflate", "compress", "lz4", "gzip, br", "gzip, gzip", "*"];
    for (const name of names) {
      await refused(spoor, { traces: [] }, [415, "unsupported_encoding"], { "Content-Encoding": name });
    }
    return { injected: names.join("; "), outcome: "415" };
  });

const bombs: Run = (spoor) =>
  leavingNothing(spoor, async () => {
    const capMiB = 256;
    const text = Buffer.concat([Buffer.from('{"traces":[],"x":"'), Buffer.alloc(600 * MiB, "a"), Buffer.from('"}')]);
    const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 };
    const wide = zstdCompressSync(Buffer.alloc(20 * MiB, "ab"), { params });
    await refused(spoor, wide, [400, "invalid_request"], { "Content-Encoding": "zstd" });
    let max = 0;
    let min = Number.POSITIVE_INFINITY;
    for (const [encoding, encode] of Object.entries({ ...encoders, gzip: (body: Uint8Array) => gzipSync(body) })) {
      const bomb = encode(text);
      min = Math.min(min, Math.floor(text.length / bomb.length));
      const { peak, before } = await withMemory(spoor.web, () =>
        refused(spoor, bomb, [413, "payload_too_large"], { "Content-Encoding": encoding }),
      );
      max = Math.max(max, peak - before);
    }
    expect(max).toBeLessThan(capMiB * 1.5);
    return {
      injected: `600 MiB out of gzip, br and zstd (${min} to one and more); a zstd window of 128 MiB`,
      outcome: `413; 400; at most ${Math.round(max)} MiB of memory more, with a cap of ${capMiB}`,
    };
  });

const counts: Run = (spoor) =>
  leavingNothing(spoor, async () => {
    const traces = Array.from({ length: 1001 }, (_, n) => ({ sourceId: `${canary}-${n}`, messages: [] }));
    expect(await refused(spoor, { traces }, [400, "invalid_request"])).toEqual(["traces"]);
    const messages = Array.from({ length: 50_001 }, (_, position) => ({ position, content: "" }));
    const long = { traces: [traces[0], { sourceId: "long", messages }] };
    expect(await refused(spoor, long, [400, "invalid_request"])).toEqual(["traces.1.messages"]);
    return {
      injected: "1001 traces; a trace of 50,001 messages",
      outcome: "400 with `traces`; with `traces.1.messages`",
    };
  });

const badJson: Run = async (spoor) => {
  await leavingNothing(spoor, async () => {
    const whole = JSON.stringify({ traces: [{ sourceId: "s", messages: [{ position: 0, content: `${canary} é` }] }] });
    for (const body of [
      Buffer.from(whole, "latin1"),
      Buffer.from(whole.slice(0, -1)),
      Buffer.from(whole + whole),
      Buffer.from(""),
    ]) {
      await refused(spoor, body, [400, "invalid_json"]);
    }
    const deep = "[".repeat(1e6) + "]".repeat(1e6);
    await refused(spoor, deep, [400, "invalid_request"]);
    await refused(spoor, `${'{"a":'.repeat(1e6)}1${"}".repeat(1e6)}`, [400, "invalid_request"]);
  });
  const message = `{"position":0,"content":"${canary}","__proto__":{"polluted":1},"metadata":{"__proto__":{"polluted":1},"a":1}}`;
  const text = `{"__proto__":{"polluted":1},"traces":[{"sourceId":"${canary}-proto","source":"faults","__proto__":{"polluted":1},"messages":[${message}]}]}`;
  const response = await sendBytes(spoor, Buffer.from(text));
  const { jobId } = (await response.json()) as { jobId: string };
  expect(response.status).toBe(202);
  spoor.note(jobId, [
    {
      sourceId: `${canary}-proto`,
      source: "faults",
      messages: [{ position: 0, content: canary, metadata: { a: 1 } }],
    },
  ]);
  await spoor.drained();
  expect(JSON.stringify(await spoor.read("/api/limits"))).not.toContain("polluted");
  return {
    injected:
      "invalid UTF-8, JSON cut off, twice, none; a million arrays, a million objects; `__proto__` at each level",
    outcome: "400; 400; stored without it",
  };
};

const unstorable: Run = async (spoor) => {
  const sourceId = `${canary}-nul`;
  const text = `{"traces":[{"sourceId":"${sourceId}","source":"faults","title":"a\\u0000b","messages":[{"position":0,"content":"${canary} \\u0000 \\ud800 end","metadata":{"k\\u0000":"\\udfff"}}]}]}`;
  const response = await sendBytes(spoor, Buffer.from(text));
  const { jobId } = (await response.json()) as { jobId: string };
  expect(response.status).toBe(202);
  const message = { position: 0, content: `${canary} \ufffd \ufffd end`, metadata: { "k\ufffd": "\ufffd" } };
  spoor.note(jobId, [{ sourceId, source: "faults", title: "a\ufffdb", messages: [message] }]);
  await spoor.drained();
  const stored = (await spoor.readTraces()).find((trace) => trace.sourceId === sourceId);
  expect(stored?.sanitized).toBe(true);
  await leavingNothing(spoor, async () => {
    for (const bad of ["a\\u0000", "a\\ud800", "\\udc00"]) {
      const body = `{"traces":[{"sourceId":"${bad}","messages":[]}]}`;
      expect(await refused(spoor, body, [400, "invalid_request"])).toEqual(["traces.0.sourceId"]);
    }
  });
  return {
    injected: "U+0000 and lone surrogates in content, title and metadata; in sourceId",
    outcome: "U+FFFD and flagged; 400 with path",
  };
};

const badValues: Run = (spoor) =>
  leavingNothing(spoor, async () => {
    const message = { position: 0, content: canary };
    const cases: [object, string][] = [
      [{ ...message, position: 2 ** 31 }, "traces.0.messages.0.position"],
      [{ ...message, position: -1 }, "traces.0.messages.0.position"],
      [{ ...message, tokenCount: 2 ** 31 }, "traces.0.messages.0.tokenCount"],
      [{ ...message, tokenCount: 1e300 }, "traces.0.messages.0.tokenCount"],
      [{ ...message, createdAt: "2026-02-30T00:00:00Z" }, "traces.0.messages.0.createdAt"],
      [{ ...message, createdAt: "yesterday" }, "traces.0.messages.0.createdAt"],
    ];
    for (const [one, path] of cases) {
      const body = { traces: [{ sourceId: "s", messages: [one] }] };
      expect(new Set(await refused(spoor, body, [400, "invalid_request"]))).toEqual(new Set([path]));
    }
    const twice = { traces: [{ sourceId: "s", messages: [message, { ...message, position: 3 }, message] }] };
    expect(await refused(spoor, twice, [400, "invalid_request"])).toEqual(["traces.0.messages.2.position"]);
    return {
      injected: "integers past 2147483647 and below 0, invalid dates, a repeated position",
      outcome: "400 with path",
    };
  });

const sameSource: Run = async (spoor, bench) => {
  const first = bench.trace(5);
  const { sourceId } = first;
  const jobId = await spoor.upload([first, bench.trace(2), bench.trace(3, { sourceId }), bench.trace(2, { sourceId })]);
  const { status, counts: reported } = await spoor.jobIs(jobId, "succeeded");
  expect({ status, reported }).toEqual({
    status: "succeeded",
    reported: { created: 2, updated: 0, unchanged: 0, kept: 0 },
  });
  return { injected: "one sourceId three times in a batch, the last the shortest", outcome: "the last is stored" };
};

const oneKey: Run = async (spoor, bench) => {
  const key = randomUUID();
  const traces: SentTrace[] = [bench.trace(5)];
  const answers = await Promise.all(Array.from({ length: 50 }, () => spoor.send(traces, key)));
  const unavailable = answers.filter(({ status }) => status !== 202);
  expect(unavailable.map(({ status }) => status)).toEqual([]);
  expect(new Set(answers.map(({ jobId }) => jobId)).size).toBe(1);
  expect((await spoor.jobs()).filter((job) => job.key === key)).toHaveLength(1);
  await refused(spoor, { traces: [] }, [422, "idempotency_key_reused"], { "Idempotency-Key": key });
  return {
    injected: "50 requests at once with one key, then one with other bytes",
    outcome: "50 times 202 with one job; 422",
  };
};

const badTokens: Run = (spoor) =>
  leavingNothing(spoor, async () => {
    const { expired, revoked, good } = spoor.cluster.tokens;
    const last = good.endsWith("0") ? "1" : "0";
    const tokens = { unknown: unknownToken(), expired, revoked, misspelt: good.slice(0, -1) + last, none: "" };
    for (const [name, token] of Object.entries(tokens)) {
      // The declared body is never sent: only an answer that does not wait for it can arrive.
      const { request, answer } = openUpload(spoor, {
        Authorization: token ? `Bearer ${token}` : "",
        "Content-Length": String(60 * MiB),
      });
      request.flushHeaders();
      await expectAnswer(answer, 401, name === "none" ? "missing_token" : "invalid_token");
      request.destroy();
    }
    return {
      injected: `${Object.keys(tokens).join(", ")}, of a body that is never sent`,
      outcome: "401 without reading it",
    };
  });

const telemetry: Run = async (spoor) => {
  const report = {
    schema: 1,
    deviceId: "faults",
    cliVersion: "1",
    platform: "p",
    arch: "a",
    command: "c",
    diagnostics: [],
  };
  const send = (more: object, from: string) =>
    fetch(`${spoor.url}/api/cli/telemetry`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Forwarded-For": from },
      body: JSON.stringify({ ...report, ...more }),
    });
  await leavingNothing(spoor, async () => {
    const items = (count: number, item: object) => Array.from({ length: count }, () => item);
    expect((await send({ diagnostics: items(201, { adapter: "a" }) }, "10.9.0.1")).status).toBe(400);
    expect((await send({ events: items(51, { name: "e" }) }, "10.9.0.1")).status).toBe(400);
  });
  const flood = await Promise.all(Array.from({ length: 100 }, (_, n) => send({ deviceId: `d-${n}` }, "10.9.0.2")));
  const taken = flood.filter(({ status }) => status === 200).length;
  const limited = flood.filter(
    ({ status, headers }) => status === 429 && Number(headers.get("retry-after")) >= 1,
  ).length;
  expect([taken, limited]).toEqual([60, 40]);
  return {
    injected: "201 diagnostics; 51 events; 100 reports at once from an address",
    outcome: "400; 400; 60 taken, 40 answered 429",
  };
};

export const requestFaults: Fault[] = [
  ...bodyFaults.map(({ name, title, run, quick }) => request(name, title, run, quick)),
  request("bad-compression", "Truncated or corrupt gzip, br, zstd; trailing junk", badCompression),
  request("bad-encoding", "Unknown or stacked Content-Encoding", badEncoding),
  request("bombs", "A 1000:1 bomb; zstd window over 8 MB", bombs, false),
  request("counts", "1001 traces, 50,001 messages", counts),
  request("bad-json", "Invalid UTF-8, bad JSON, nesting 1e6, `__proto__` keys", badJson),
  request("unstorable", "U+0000 and lone surrogates in content / in sourceId", unstorable),
  request("bad-values", "Integer overflow, bad date, repeated position", badValues),
  request("same-source", "The same sourceId twice in a batch", sameSource),
  request("one-key", "50 requests at once with one idempotency key", oneKey),
  request("bad-tokens", "Bad, expired, revoked token", badTokens),
  request("telemetry", "201 diagnostics, 51 events, flood", telemetry),
  request(manyBodies.name, manyBodies.title, manyBodies.run, manyBodies.quick),
];
