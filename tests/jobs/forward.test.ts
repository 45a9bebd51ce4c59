import { lookup } from "node:dns/promises";
import { hostname } from "node:os";
import { describe, expect, test, vi } from "vitest";
import { pool } from "#lib/db/client";
import { forwardDue, undoFutureWaits } from "#lib/telemetry/forward";
import { enableSinks, readSinkDisabledAt } from "#lib/telemetry/sink";
import { startSink, status } from "../support/sink.ts";
import { forwarded, notForwarded, pass, provideForwarding, readOutbox } from "./forwarding.ts";

const { sink, use, submit } = await provideForwarding();

const ownAddress = await lookup(hostname()).then(
  ({ address }) => address,
  () => undefined,
);

/** Submits to a sink that does not answer, until it is given up on. */
async function submitInVain<T>(requests: number, work: () => Promise<T>, isReady = () => true): Promise<T> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const answer = work();
    await expect.poll(() => [sink.got.length, isReady()], { timeout: 10_000 }).toEqual([requests, true]);
    vi.advanceTimersByTime(1500);
    return await answer;
  } finally {
    vi.useRealTimers();
  }
}

const readId = (at: number) => sink.got[at]?.headers["webhook-id"];
/** Nothing listens on port 1. */
const unreachable = "http://127.0.0.1:1/hook";

describe("a submission", () => {
  test("is not added to the outbox where no sink is set", async () => {
    use({ TELEMETRY_SINK: undefined, TELEMETRY_SINK_URL: undefined, TELEMETRY_SINK_KEY: undefined });
    expect(await submit()).toEqual(notForwarded);
    expect(await readOutbox()).toEqual([]);
  });

  test("is forwarded once, before the response, where the sink accepts it", async () => {
    expect(await submit()).toEqual(forwarded);
    expect(await readOutbox()).toEqual([]);
    expect(await forwardDue()).toBe(0);
    expect(sink.got.length).toBe(1);
  });

  test("of a deleted account is no longer forwarded", async () => {
    sink.answer = status(500);
    await submit();
    await pool().query("delete from telemetry_report");
    await pass(60);
    expect([await forwardDue(), await readOutbox(), sink.got.length]).toEqual([0, [], 1]);
  });
});

test("what was put off while the database's clock was ahead is forwarded once it is set back", async () => {
  sink.answer = status(503, { "retry-after": "60" });
  await submit();
  await pass(-86_400);
  sink.answer = status(200);
  expect(await forwardDue()).toBe(0);
  await undoFutureWaits();
  expect([await forwardDue(), await readOutbox()]).toEqual([1, []]);
  sink.answer = status(503, { "retry-after": "21600" });
  await submit();
  await undoFutureWaits();
  expect(await forwardDue()).toBe(0); // as long as the sink has asked for
});

describe("a sink that is", () => {
  test("slow delays the response by at most 1.5 s, and gets the report later under the same id", async () => {
    sink.answer = () => {};
    expect(await submitInVain(1, submit)).toEqual(notForwarded);
    sink.answer = status(204);
    await pass(60);
    expect(await forwardDue()).toBe(1);
    expect([readId(0), await readOutbox()]).toEqual([readId(1), []]);
  });

  test("slow in its response body counts as having answered", async () => {
    sink.answer = (response) => void response.writeHead(200).write("x".repeat(100_000));
    expect(await submit()).toEqual(forwarded);
  });

  test("down is retried with a growing backoff until it is back", async () => {
    use({ TELEMETRY_SINK_URL: unreachable });
    expect(await submit()).toEqual(notForwarded);
    for (const [attempts, min, max] of [
      [1, 5, 10],
      [2, 10, 20],
      [3, 20, 40],
    ] as const) {
      const [row] = await readOutbox();
      expect(row?.attempts).toBe(attempts);
      expect(row?.seconds).toBeGreaterThan(min - 1);
      expect(row?.seconds).toBeLessThanOrEqual(max);
      await pass(max);
      if (attempts === 3) use();
      expect(await forwardDue()).toBe(attempts === 3 ? 1 : 0);
    }
    expect(await readOutbox()).toEqual([]);
  });

  test("failing (500) is retried for three days, and then no longer", async () => {
    sink.answer = status(500);
    expect(await submit()).toEqual(notForwarded);
    await pass(3 * 86_400 - 60);
    await forwardDue();
    expect((await readOutbox()).length).toBe(1);
    await pass(120);
    expect([await forwardDue(), await readOutbox()]).toEqual([0, []]);
    expect(sink.got.length).toBe(2);
  });

  test.each([400, 401, 404, 413, 422])("refusing a report with %i does not get it again", async (code) => {
    sink.answer = status(code);
    expect(await submit()).toEqual(notForwarded);
    expect(await readOutbox()).toEqual([]);
  });

  test("redirecting is not followed", async () => {
    const elsewhere = await startSink();
    sink.answer = status(307, { Location: `${elsewhere.url}/hook` });
    expect(await submit()).toEqual(notForwarded);
    expect([elsewhere.got, (await readOutbox()).length]).toEqual([[], 1]);
    await elsewhere.stop();
  });

  test.each<[string, () => string, number, number]>([
    ["of seconds", () => "120", 110, 120],
    ["of a date", () => new Date(Date.now() + 600_000).toUTCString(), 560, 600],
    ["of years", () => "999999999", 21_590, 21_600],
    ["without a meaning", () => "nonsense", 5, 10],
  ])("busy with a Retry-After %s gets nothing for that long", async (_, makeRetryAfter, min, max) => {
    for (const code of [429, 503]) {
      const retryAfter = makeRetryAfter();
      await enableSinks();
      sink.got.length = 0;
      sink.answer = status(code, { "Retry-After": retryAfter });
      expect(await submit()).toEqual(notForwarded);
      const [row] = await readOutbox();
      expect(row?.seconds).toBeGreaterThan(min - 2);
      expect(row?.seconds).toBeLessThan(max + 0.1); // the two clocks differ by fractions of a millisecond
      sink.answer = status(200);
      expect(await submit({ deviceId: "another" })).toEqual(notForwarded); // the pause is for all reports
      await pass(min - 5);
      expect([await forwardDue(), sink.got.length]).toEqual([0, 1]);
      await pass(max - min + 10);
      expect(await forwardDue()).toBe(2);
    }
  });

  test("gone (410) gets nothing until a restart or a change of its settings", async () => {
    sink.answer = status(410);
    expect(await submit()).toEqual(notForwarded);
    expect(await readSinkDisabledAt()).toBeInstanceOf(Date);
    sink.answer = status(200);
    expect(await submit()).toEqual(notForwarded);
    await pass(60);
    expect([await forwardDue(), sink.got.length]).toEqual([0, 1]);
    use({ TELEMETRY_SINK_URL: `${sink.url}/new` });
    expect(await readSinkDisabledAt()).toBeUndefined();
    expect(await submit()).toEqual(forwarded);
    use();
    expect(await submit()).toEqual(notForwarded);
    await enableSinks(); // what a start does
    expect(await readSinkDisabledAt()).toBeUndefined();
    expect(await forwardDue()).toBe(3);
  });
});

describe("forwarding", () => {
  test("sends nothing twice where several processes forward at once, at most eight at a time", async () => {
    use({ TELEMETRY_SINK_URL: unreachable });
    await Promise.all(Array.from({ length: 40 }, (_, n) => submit({ deviceId: `device-${n}` })));
    await pass(60);
    use();
    sink.answer = (response) => void setTimeout(() => response.writeHead(200).end(), 30);
    const counts = await Promise.all([forwardDue(), forwardDue()]);
    expect(counts.reduce((a, b) => a + b)).toBe(40);
    expect(new Set(sink.got.map(({ headers }) => headers["webhook-id"])).size).toBe(40);
    expect(sink.got.length).toBe(40);
    expect(sink.atOnce).toBeLessThanOrEqual(8);
  });

  test("leaves a claimed report to its process, and takes it over where that process died", async () => {
    sink.answer = status(500);
    await submit();
    // The state that a process leaves which dies between the sink's 2xx and recording it.
    await pool().query("update forward_outbox set due_at = now() + interval '30 seconds'");
    sink.answer = status(200);
    expect(await forwardDue()).toBe(0);
    await pass(31);
    expect(await forwardDue()).toBe(1);
    expect(readId(1)).toBe(readId(0));
  });

  test("forwards at most 16 submissions at once before their responses, and leaves the others to the worker", async () => {
    sink.answer = () => {};
    let answered = 0;
    const count = (answer: unknown) => {
      answered += 1;
      return answer;
    };
    const all = () => Promise.all(Array.from({ length: 24 }, (_, n) => submit({ deviceId: `many-${n}` }).then(count)));
    // The 8 others are answered before the 16 time out, so that none of them takes a slot that became free.
    expect(await submitInVain(16, all, () => answered === 8)).toEqual(Array(24).fill(notForwarded));
    expect(sink.got.length).toBe(16);
    expect((await readOutbox()).length).toBe(24);
  });

  test("reaches localhost where the operator named it", async () => {
    use({ TELEMETRY_SINK_URL: `http://localhost:${sink.port}/hook` });
    expect(await submit()).toEqual(forwarded);
  });

  test.skipIf(ownAddress !== "127.0.0.1")(
    "reaches no private address through a name, unless private addresses are allowed",
    async () => {
      use({ TELEMETRY_SINK_URL: `http://${hostname()}:${sink.port}/hook` });
      expect(await submit()).toEqual(notForwarded);
      await pass(60);
      expect([await forwardDue(), sink.got]).toEqual([0, []]);
      use({ TELEMETRY_SINK_URL: `http://${hostname()}:${sink.port}/hook`, TELEMETRY_SINK_ALLOW_PRIVATE: "1" });
      expect(await submit()).toEqual(forwarded);
      use({ TELEMETRY_SINK_ALLOW_PRIVATE: undefined });
    },
  );
});
