import { randomBytes } from "node:crypto";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ended, wrote } from "../support/client.ts";
import { toLines, writeBelow } from "./home.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId, problem, world, zstdText } from "./world.ts";

describe("what the server refuses", () => {
  test("a token that is not valid ends a push with 3", async () => {
    const { fake, run } = await world();
    fake.failWith(() => problem(401, { error: "invalid_token" }));
    const { code, errors } = await run(["push"]);
    expect([code, errors]).toEqual([3, expect.stringContaining("login")]);
  });

  test("an invalid session is listed with its field, and the others are sent", async () => {
    const { fake, push, home } = await world(2);
    const bad = { source: "own", sourceId: "bad", messages: [{ position: -1, content: "x" }] };
    await writeBelow(home, ".local/share/spoor/jsonl/x.jsonl", toLines(bad, { ...bad, sourceId: "good" }));
    fake.failWith(({ url }, body) => {
      if (url !== "/api/ingest" || fake.requests.filter((one) => one === "POST /api/ingest").length > 1)
        return undefined;
      expect(body.length).toBeGreaterThan(0);
      const errors = [{ path: "traces.2.messages.0.position", message: "Too small" }];
      return problem(400, { error: "invalid_request", errors });
    });
    const { code, left, sent } = await push();
    expect([code, sent.sessions]).toEqual([5, 3]);
    expect(left).toEqual([
      { source: "own", sourceId: "bad", reason: expect.stringContaining("messages.0.position Too small") },
    ]);
    expect([...fake.archive.keys()].sort()).toEqual([
      `claude-code/${makeId(1)}`,
      `claude-code/${makeId(2)}`,
      "own/good",
    ]);
  });

  test("a batch refused without a session's name is halved until the cause is isolated", async () => {
    const { fake, push } = await world(5);
    fake.failWith(({ url }, body) =>
      url === "/api/ingest" && zstdText(body).includes(makeId(4))
        ? problem(400, { error: "invalid_request" })
        : undefined,
    );
    const { code, left, sent } = await push();
    expect([code, sent.sessions, left.map(({ sourceId }) => sourceId)]).toEqual([5, 4, [makeId(4)]]);
  });

  test("an account that is full ends a push with the server's figures, and the next one sends the rest", async () => {
    const { fake, push, run } = await world(5);
    const detail = "Your sessions use 9 of the 10 bytes that you may store.";
    let isFull = true;
    fake.failWith(({ url }) =>
      isFull && url === "/api/ingest" ? problem(413, { error: "payload_too_large", detail }) : undefined,
    );
    const { code, errors } = await run(["push"]);
    expect([code, errors]).toEqual([1, expect.stringContaining(detail)]);
    expect(fake.requests.filter((one) => one === "POST /api/ingest").length).toBe(1);
    isFull = false;
    expect((await push()).sent.sessions).toBe(5);
  });

  test("a failed job's batch is sent in halves, and the session at fault is listed", async () => {
    const failed = { status: "failed", error: { code: "internal", message: "It could not be stored." } };
    const job = ({ traces }: { traces: { sourceId: string }[] }) =>
      traces.some(({ sourceId }) => sourceId === makeId(2)) ? failed : {};
    const { push } = await world(3, { job });
    const { code, left, sent } = await push();
    expect([code, sent.sessions]).toEqual([5, 2]);
    expect(left).toEqual([
      expect.objectContaining({ sourceId: makeId(2), reason: expect.stringContaining("could not be stored") }),
    ]);
  });

  test("a session whose job fails is listed by each push, and sent once the server can store it", async () => {
    let isBroken = true;
    const failed = { status: "failed", error: { code: "internal", message: "It could not be stored." } };
    const { push, run } = await world(1, { job: () => (isBroken ? failed : {}) });
    for (let time = 1; time <= 3; time++)
      expect(await push()).toMatchObject({ code: 5, left: [{ sourceId: makeId(1) }] });
    expect((await run(["status"])).code).toBe(5);
    isBroken = false; // the server's owner has replayed the upload
    expect(await push()).toMatchObject({ code: 0, left: [], sent: { sessions: 1 } });
  });

  test("no body is larger than what the server takes on the wire, and all sessions arrive", async () => {
    const { fake, push, home } = await world(0, { limits: { wireBytes: 25_000 } });
    for (let number = 1; number <= 12; number += 1) {
      const text = randomBytes(4000).toString("base64"); // hardly compressible
      await writeBelow(home, claudePath(number), toLines(...claudeLines(makeId(number), 1, { text })));
    }
    expect(await push()).toMatchObject({ code: 0, sent: { sessions: 12 }, left: [] });
    expect(fake.archive.size).toBe(12);
    expect(Math.max(...fake.uploads.map(({ wireBytes }) => wireBytes))).toBeLessThanOrEqual(25_000);
  });

  test("a file that can't be read is listed, and the others are sent", async () => {
    const { home, push, run } = await world(2);
    await symlink("/proc/self/mem", join(home, claudePath(9)));
    const { left, sent } = await push();
    expect([sent.sessions, left.length]).toEqual([2, 1]);
    expect((await run(["push"])).output).toBe("Nothing new: 2 sessions are already archived.\n");
  });
});

describe("watch", () => {
  test("sends new sessions, and neither retries nor lists again what the server has refused", async () => {
    const { fake, home, start } = await world(1);
    await writeBelow(home, ".local/share/spoor/jsonl/x.jsonl", toLines({ sourceId: "bad", messages: [] }));
    fake.failWith(({ url }, body) =>
      url === "/api/ingest" && zstdText(body).includes('"bad"')
        ? problem(400, { error: "invalid_request" })
        : undefined,
    );
    const watching = start(["watch"]);
    const gone = ended(watching);
    await wrote(watching, /Not sent: unknown bad/);
    await writeBelow(home, claudePath(2), toLines(...claudeLines(makeId(2), 1)));
    await wrote(watching, /1 new/);
    await writeBelow(home, claudePath(3), toLines(...claudeLines(makeId(3), 1)));
    await wrote(watching, /1 new/);
    watching.kill("SIGINT");
    const { code, errors } = await gone;
    expect([code, errors.match(/Not sent/g)?.length]).toEqual([130, 1]);
    // The refused batch, its two halves, and the later sessions.
    expect(fake.requests.filter((one) => one === "POST /api/ingest")).toHaveLength(5);
    expect(fake.archive.size).toBe(3);
  });
});
