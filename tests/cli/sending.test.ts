import { appendFile, readdir, readFile, stat, symlink, utimes } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { zstdDecompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ended, provideClient, wrote } from "../support/client.ts";
import { startFake } from "./fake-server.ts";
import { linesOf, writeBelow } from "./home.ts";
import { claudeLines, codexLines } from "./sessions.ts";

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const claudePath = (number: number, project = "-home-ada-code-api") =>
  `.claude/projects/${project}/${idOf(number)}.jsonl`;

/** A client with some sessions in its home, and a server that it is logged in at. */
async function world(sessions = 3, options: Parameters<typeof startFake>[0] = {}) {
  const fake = await startFake(options);
  const client = await provideClient(() => resolve("cli/main.ts"));
  for (let number = 1; number <= sessions; number++) {
    await writeBelow(client.home, claudePath(number), linesOf(...claudeLines(idOf(number), number)));
  }
  const environment = { SPOOR_URL: fake.url, SPOOR_TOKEN: "spoor_test" };
  const run = (words: string[], more: Record<string, string> = {}) => client.run(words, { ...environment, ...more });
  const push = async (...words: string[]) => {
    const { code, output, errors } = await run(["push", "--json", ...words]);
    return { code, errors, ...(JSON.parse(output) as Told) };
  };
  return { fake, client, environment, run, push };
}

type Told = {
  same: number;
  sent: { sessions: number; jobs: string[]; pending: number };
  left: { source: string; sourceId: string; reason: string }[];
  sessions: { sourceId: string }[];
  error: string;
  message: string;
};

const problem = (status: number, more: object = {}, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: { ok: false, status, error: "x", detail: "No.", ...more },
});

describe("what passes is waited for", () => {
  test("a server that is full says when to come again, and is obeyed", async () => {
    const { fake, push } = await world();
    const times: number[] = [];
    fake.failWith(({ url }) => {
      if (url !== "/api/ingest") return undefined;
      times.push(performance.now());
      return times.length <= 2 ? problem(503, { error: "overloaded" }, { "Retry-After": "1" }) : undefined;
    });
    const { code, sent } = await push();
    expect([code, sent.sessions, times.length]).toEqual([0, 3, 3]);
    for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  test("a broken connection, a lost answer, a rate limit and a server's fault: sent once all the same", async () => {
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

  test("a server that restarts in the middle is waited for", async () => {
    const { fake, client, environment } = await world();
    await fake.close();
    const pushing = client.start(["push"], environment);
    const done = ended(pushing);
    await wrote(pushing, /can't be reached|Trying again/, 20);
    await fake.listen();
    expect((await done).code).toBe(0);
    expect(fake.archive.size).toBe(3);
  });

  test("what several requests wait for at once is told once", async () => {
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

  test("one that does not come back is given up on with 4, and nothing is taken for sent", async () => {
    const { fake, push } = await world();
    await fake.close();
    const { code, error } = await push("--patience", "1");
    expect([code, error]).toEqual([4, "unreachable"]);
    await fake.listen();
    expect((await push()).sent.sessions).toBe(3);
  });

  test("a job that is not done in time is told, and known by the next run without sending it again", async () => {
    let status = "running";
    const { push } = await world(2, { job: () => ({ status }) });
    const first = await push("--patience", "0");
    expect([first.code, first.sent]).toEqual([0, expect.objectContaining({ sessions: 0, pending: 1 })]);
    status = "succeeded";
    expect(await push()).toMatchObject({ same: 2, sent: { sessions: 0, jobs: [] } });
  });
});

describe("what does not pass is named", () => {
  test("a token that is no longer valid ends it with 3", async () => {
    const { fake, run } = await world();
    fake.failWith(() => problem(401, { error: "invalid_token" }));
    const { code, errors } = await run(["push"]);
    expect([code, errors]).toEqual([3, expect.stringContaining("login")]);
  });

  test("a session that the server refuses is named with the field, and the others go on", async () => {
    const { fake, push, client } = await world(2);
    const bad = { source: "own", sourceId: "bad", messages: [{ position: -1, content: "x" }] };
    await writeBelow(client.home, ".local/share/spoor/jsonl/x.jsonl", linesOf(bad, { ...bad, sourceId: "good" }));
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
    expect([...fake.archive.keys()].sort()).toEqual([`claude-code/${idOf(1)}`, `claude-code/${idOf(2)}`, "own/good"]);
  });

  test("where the server does not say which one it is, halves are tried until it is alone", async () => {
    const { fake, push } = await world(5);
    fake.failWith(({ url }, body) =>
      url === "/api/ingest" && zlibText(body).includes(idOf(4))
        ? problem(400, { error: "invalid_request" })
        : undefined,
    );
    const { code, left, sent } = await push();
    expect([code, sent.sessions, left.map(({ sourceId }) => sourceId)]).toEqual([5, 4, [idOf(4)]]);
  });

  test("a job that fails is sent in parts, and the session at fault is named", async () => {
    const failed = { status: "failed", error: { code: "internal", message: "It could not be stored." } };
    const job = ({ traces }: { traces: { sourceId: string }[] }) =>
      traces.some(({ sourceId }) => sourceId === idOf(2)) ? failed : {};
    const { push } = await world(3, { job });
    const { code, left, sent } = await push();
    expect([code, sent.sessions]).toEqual([5, 2]);
    expect(left).toEqual([
      expect.objectContaining({ sourceId: idOf(2), reason: expect.stringContaining("could not be stored") }),
    ]);
  });

  test("a session over the server's bounds is named with its size, in each run", async () => {
    const { push, client, fake } = await world(1, { limits: { decodedBytes: 40_000, messagesPerTrace: 100 } });
    await writeBelow(client.home, claudePath(7), linesOf(...claudeLines(idOf(7), 10, { text: "long ".repeat(4000) })));
    await writeBelow(client.home, claudePath(8), linesOf(...claudeLines(idOf(8), 30, { text: "" })));
    for (const sessions of [1, 0]) {
      const { code, left, sent } = await push();
      expect([code, sent.sessions]).toEqual([5, sessions]);
      expect(left.map(({ sourceId, reason }) => [sourceId, reason]).sort()).toEqual([
        [idOf(7), expect.stringMatching(/^it has 2\d\d KiB, and the server takes up to 39 KiB$/)],
        [idOf(8), expect.stringContaining("120 messages, and the server takes up to 100")],
      ]);
    }
    expect(fake.archive.size).toBe(1);
  });

  test("a file that may not be read is named, and the others are sent", async () => {
    const { client, push, run } = await world(2);
    await writeBelow(client.home, "folder/x", "");
    await symlink("/proc/self/mem", join(client.home, claudePath(9)));
    const { left, sent } = await push();
    expect([sent.sessions, left.length]).toEqual([2, 1]);
    expect((await run(["push"])).output).toBe(
      "Nothing else to send: 2 sessions of this machine are in the archive as they are.\n",
    );
  });
});

describe("watch", () => {
  test("sends what comes, and neither sends nor names again in each look what the server has refused", async () => {
    const { fake, client, environment } = await world(1);
    await writeBelow(client.home, ".local/share/spoor/jsonl/x.jsonl", linesOf({ sourceId: "bad", messages: [] }));
    fake.failWith(({ url }, body) =>
      url === "/api/ingest" && zlibText(body).includes('"bad"')
        ? problem(400, { error: "invalid_request" })
        : undefined,
    );
    const watching = client.start(["watch"], environment);
    const gone = ended(watching);
    await wrote(watching, /Not sent: unknown bad/);
    await writeBelow(client.home, claudePath(2), linesOf(...claudeLines(idOf(2), 1)));
    await wrote(watching, /1 new/);
    await setTimeout(2500);
    watching.kill("SIGINT");
    const { code, errors } = await gone;
    expect([code, errors.match(/Not sent/g)?.length]).toEqual([130, 1]);
    // The refused batch, its two halves, and the session that came later.
    expect(fake.requests.filter((one) => one === "POST /api/ingest")).toHaveLength(4);
    expect(fake.archive.size).toBe(2);
  });
});

describe("what is sent", () => {
  test("goes in batches within the server's limits, compressed, each with a key of its content", async () => {
    const { fake, push } = await world(5, { limits: { traces: 2 } });
    await push();
    expect(fake.uploads.map(({ traces }) => traces.length)).toEqual([2, 2, 1]);
    expect(new Set(fake.uploads.map(({ key }) => key)).size).toBe(3);
    for (const { key, encoding } of fake.uploads)
      expect([key, encoding]).toEqual([expect.stringMatching(/^spoor-[\w-]{43}$/), "zstd"]);
  });

  test("is gzip where the server knows nothing better, also for a session in many pieces", async () => {
    const { fake, push, client } = await world(1, { limits: { contentEncodings: ["gzip"] } });
    await writeBelow(client.home, claudePath(5), linesOf(...claudeLines(idOf(5), 500, { text: "word ".repeat(5000) })));
    await push();
    expect(fake.uploads.map(({ encoding }) => encoding)).toEqual(["gzip", "gzip"]);
    expect(fake.archive.get(`claude-code/${idOf(5)}`)).toBe(2000);
    const large = fake.uploads.flatMap(({ traces }) => traces).find(({ sourceId }) => sourceId === idOf(5));
    expect(large?.messages.map(({ position }) => position)).toEqual([...Array(2000).keys()]);
  });

  test("the same sessions without a record have the same keys, so that a server that knows them does nothing", async () => {
    const { fake, client, run } = await world();
    await run(["push"]);
    await run(["push"], { XDG_STATE_HOME: join(client.home, "other") });
    expect(fake.requests.filter((one) => one === "POST /api/ingest")).toHaveLength(2);
    expect(fake.uploads).toHaveLength(1);
  });

  test("a session that became again what it once was is sent under another key", async () => {
    const { fake, client, push } = await world(1);
    const path = join(client.home, claudePath(1));
    const before = await readFile(path, "utf8");
    await push();
    await appendFile(path, linesOf(...claudeLines(idOf(1), 2).slice(4)));
    await push();
    await writeBelow(client.home, claudePath(1), before);
    await push();
    expect(fake.uploads).toHaveLength(3);
  });

  test("is what the filters let through", async () => {
    const { push, client } = await world(2);
    await writeBelow(client.home, `.codex/sessions/rollout-${idOf(3)}.jsonl`, linesOf(...codexLines(idOf(3), 1)));
    await utimes(join(client.home, claudePath(1)), new Date(), new Date(Date.now() - 3 * 86_400_000));
    const dry = async (...words: string[]) =>
      (await push("--dry-run", ...words)).sessions.map(({ sourceId }) => Number(sourceId.slice(-2))).sort();
    expect(await dry()).toEqual([1, 2, 3]);
    expect(await dry("--since", "2d")).toEqual([2, 3]);
    expect(await dry("--source", "codex-cli")).toEqual([3]);
    expect(await dry("--project", "api")).toEqual([1, 2]);
    expect(await dry("--project", "/home/ada/code")).toEqual([1, 2, 3]);
    expect(await dry("--project", "/home/ada/code/we")).toEqual([]);
    expect((await push("--since", "soon")).error).toBe("usage");
  });

  test("may be a file that is named", async () => {
    const { fake, client, push } = await world(1);
    const trace = { source: "own", sourceId: "a", messages: [{ position: 0, content: "Hi" }] };
    const path = await writeBelow(client.home, "export.jsonl", linesOf(trace));
    expect((await push(path)).code).toBe(0);
    expect([...fake.archive.keys()]).toEqual(["own/a"]);
    expect((await push(join(client.home, "none.jsonl"))).code).toBe(2);
  });
});

describe("what is kept here", () => {
  test("settings and records are this user's alone, written whole, and a broken one is begun anew", async () => {
    const { client, push } = await world();
    await push();
    const folder = join(client.home, ".local/state/spoor");
    const [name = ""] = (await readdir(folder)).filter((one) => one.startsWith("sent-"));
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).filter((one) => !one.endsWith(".json"))).toEqual([]);
    await writeBelow(folder, name, '{"version":1,"sent":');
    expect(await push()).toMatchObject({ same: 0, sent: { sessions: 3 } });
  });

  test("telemetry has counts and names of types alone, and is off where that is wanted", async () => {
    const { fake, client, run } = await world();
    await writeBelow(client.home, claudePath(4), linesOf({ type: "hologram" }, { type: "/home/ada/secret plan" }));
    await run(["push"]);
    expect(fake.telemetry).toEqual([
      expect.objectContaining({
        command: "push",
        diagnostics: [
          expect.objectContaining({ adapter: "claude-code", traceCount: 3, unhandledTypes: ["hologram", "other"] }),
        ],
      }),
    ]);
    await run(["scan"], { DO_NOT_TRACK: "1" });
    await run(["scan", "--no-telemetry"]);
    expect(fake.telemetry).toHaveLength(1);
  });
});

describe("a clock that is wrong", () => {
  test("is what doctor says, and nothing else minds", async () => {
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
});

function zlibText(body: Buffer): string {
  return zstdDecompressSync(body).toString();
}
