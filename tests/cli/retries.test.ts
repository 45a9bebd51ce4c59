import { describe, expect, test } from "vitest";
import { Api } from "../../cli/server/api.ts";
import { startFake } from "./fake-server.ts";
import { quickenClock } from "./quick-clock.ts";
import { problem, world } from "./world.ts";

describe("a server that is unavailable", () => {
  test("is retried after its Retry-After", async () => {
    const { fake, push } = await world();
    const waits = quickenClock();
    let tries = 0;
    fake.failWith(({ url }) => {
      if (url !== "/api/ingest") return undefined;
      return ++tries <= 2 ? problem(503, { error: "overloaded" }, { "Retry-After": "1" }) : undefined;
    });
    const { code, sent } = await push();
    expect([code, sent.sessions, tries]).toEqual([0, 3, 3]);
    expect(waits.filter((milliseconds) => milliseconds >= 1000)).toHaveLength(2);
  });

  test("is retried after a broken connection, a rate limit, a 500 and a 502, and gets each session once", async () => {
    quickenClock();
    const { fake, push } = await world();
    let tries = 0;
    fake.failWith(({ url }) => {
      if (url !== "/api/ingest") return undefined;
      const faults = ["hang up", problem(429, {}, { "Retry-After": "0" }), problem(500), problem(502)] as const;
      return faults[tries++];
    });
    const { code } = await push();
    expect([code, fake.uploads.length, fake.archive.size]).toEqual([0, 1, 3]);
  });

  test.each(["0", "Wed, 25 Nov 2020 10:00:00 GMT"])(
    "that says Retry-After: %s again and again is not asked at once each time",
    async (header) => {
      quickenClock();
      const fake = await startFake();
      fake.failWith(() => problem(503, {}, { "Retry-After": header }));
      await expect(new Api(fake.url, { patienceSeconds: 3 }).request("/api/limits")).rejects.toThrow("No.");
      expect(fake.requests.length).toBeLessThan(6);
    },
  );

  test("is waited for while it restarts", async () => {
    const { fake, run } = await world();
    await fake.close();
    let waits = 0;
    quickenClock(async () => {
      if (++waits === 4) await fake.listen();
    });
    const { code, errors } = await run(["push"]);
    expect([code, errors]).toEqual([0, expect.stringMatching(/can't be reached|Trying again/)]);
    expect(fake.archive.size).toBe(3);
  });

  test("is reported once where several requests wait for it", async () => {
    quickenClock();
    const { fake, run } = await world(3, { limits: { traces: 1 } });
    const refused = new Set<string>();
    fake.failWith(({ url = "" }) => {
      if (!url.startsWith("/api/ingest/") || refused.has(url)) return undefined;
      refused.add(url);
      return problem(503, { error: "unavailable" }, { "Retry-After": "1" });
    });
    const { code, errors } = await run(["push"]);
    expect([code, refused.size, errors]).toEqual([0, 3, "No. Trying again in 0:01.\n"]);
  });

  test("ends a push with 4 when --patience is over, and nothing counts as sent", async () => {
    quickenClock();
    const { fake, push } = await world();
    await fake.close();
    const { code, error } = await push("--patience", "1");
    expect([code, error]).toEqual([4, "unreachable"]);
    await fake.listen();
    expect((await push()).sent.sessions).toBe(3);
  });

  test("leaves unfinished jobs to the next run, which does not send them again", async () => {
    let status = "running";
    const { push } = await world(2, { job: () => ({ status }) });
    const first = await push("--patience", "0");
    expect([first.code, first.sent]).toEqual([0, expect.objectContaining({ sessions: 0, pending: 1 })]);
    status = "succeeded";
    expect(await push()).toMatchObject({ same: 2, sent: { sessions: 0, jobs: [] } });
  });
});

describe("a wrong clock", () => {
  test("is reported by doctor and changes nothing else", async () => {
    const { fake, run, push } = await world();
    fake.failWith(({ url }) =>
      url === "/api/health"
        ? { status: 200, body: { ok: true }, headers: { Date: new Date(Date.now() - 7_200_000).toUTCString() } }
        : undefined,
    );
    const { code, output } = await run(["doctor"]);
    expect([code, output]).toEqual([1, expect.stringMatching(/is 7(199|200|201) s ahead of the server's/)]);
    expect((await push()).code).toBe(0);
  });

  test("is not known where the server's time can't be read", async () => {
    const { fake, run } = await world();
    fake.failWith(({ url }) =>
      url === "/api/health" ? { status: 200, body: { ok: true }, headers: { Date: "soon" } } : undefined,
    );
    expect((await run(["doctor"])).output).toMatch(/the server did not send its time/);
  });
});
