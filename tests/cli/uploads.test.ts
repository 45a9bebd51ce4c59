import { appendFile, readdir, readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toLines, writeBelow } from "./home.ts";
import { claudeLines, codexLines } from "./sessions.ts";
import { claudePath, makeId, world } from "./world.ts";

describe("an upload", () => {
  test("is a compressed batch within the server's limits, with a key made from its content", async () => {
    const { fake, push } = await world(5, { limits: { traces: 2 } });
    await push();
    expect(fake.uploads.map(({ traces }) => traces.length)).toEqual([2, 2, 1]);
    expect(new Set(fake.uploads.map(({ key }) => key)).size).toBe(3);
    for (const { key, encoding } of fake.uploads)
      expect([key, encoding]).toEqual([expect.stringMatching(/^spoor-[\w-]{43}$/), "zstd"]);
  });

  test("is gzip where the server accepts nothing else, also for a session in many pieces", async () => {
    const { fake, push, home } = await world(1, { limits: { contentEncodings: ["gzip"] } });
    await writeBelow(home, claudePath(5), toLines(...claudeLines(makeId(5), 500, { text: "word ".repeat(5000) })));
    await push();
    expect(fake.uploads.map(({ encoding }) => encoding)).toEqual(["gzip", "gzip"]);
    expect(fake.archive.get(`claude-code/${makeId(5)}`)).toBe(2000);
    const large = fake.uploads.flatMap(({ traces }) => traces).find(({ sourceId }) => sourceId === makeId(5));
    expect(large?.messages.map(({ position }) => position)).toEqual([...Array(2000).keys()]);
  });

  test("has the same key when the record is lost, so that the server does nothing", async () => {
    const { fake, home, run } = await world();
    await run(["push"]);
    await run(["push"], { XDG_STATE_HOME: join(home, "other") });
    expect(fake.requests.filter((one) => one === "POST /api/ingest")).toHaveLength(2);
    expect(fake.uploads).toHaveLength(1);
  });

  test("has a new key for a session that was changed back", async () => {
    const { fake, home, push } = await world(1);
    const path = join(home, claudePath(1));
    const before = await readFile(path, "utf8");
    await push();
    await appendFile(path, toLines(...claudeLines(makeId(1), 2).slice(4)));
    await push();
    await writeBelow(home, claudePath(1), before);
    await push();
    expect(fake.uploads).toHaveLength(3);
  });

  test("has the sessions that --since, --source and --project select", async () => {
    const { push, home } = await world(2);
    await writeBelow(home, `.codex/sessions/rollout-${makeId(3)}.jsonl`, toLines(...codexLines(makeId(3), 1)));
    await utimes(join(home, claudePath(1)), new Date(), new Date(Date.now() - 3 * 86_400_000));
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

  test("can be a file named as an argument", async () => {
    const { fake, home, push } = await world(1);
    const trace = { source: "own", sourceId: "a", messages: [{ position: 0, content: "Hi" }] };
    const path = await writeBelow(home, "export.jsonl", toLines(trace));
    expect((await push(path)).code).toBe(0);
    expect([...fake.archive.keys()]).toEqual(["own/a"]);
    expect((await push(join(home, "none.jsonl"))).code).toBe(2);
  });
});

describe("local state and telemetry", () => {
  test("records have mode 0600, are written atomically, and a broken one is replaced", async () => {
    const { home, push } = await world();
    await push();
    const folder = join(home, ".local/state/spoor");
    const [name = ""] = (await readdir(folder)).filter((one) => one.startsWith("sent-"));
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).filter((one) => !one.endsWith(".json"))).toEqual([]);
    await writeBelow(folder, name, '{"version":1,"sent":');
    expect(await push()).toMatchObject({ same: 0, sent: { sessions: 3 } });
  });

  test("telemetry has only counts and type names, and can be switched off", async () => {
    const { fake, home, run } = await world();
    await writeBelow(home, claudePath(4), toLines({ type: "hologram" }, { type: "/home/ada/secret plan" }));
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
