import { symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { push } from "../../cli/commands/push.ts";
import { toLines, writeBelow } from "./home.ts";
import { pushInside, runInside, worldInside } from "./inside.ts";
import { claudePath, makeId, problem, world } from "./world.ts";

const session = (sourceId: string, more: object = {}) => ({
  sourceId,
  messages: [{ position: 0, content: "Hi" }],
  ...more,
});

describe("a file named as an argument", () => {
  test("that has no session fails, with its invalid lines by number, at most five of them", async () => {
    const { home, push, run, fake } = await world(0);
    const path = await writeBelow(home, "notes.txt", "Buy milk\n".repeat(17));
    const { code, output, errors } = await run(["push", path]);
    expect([code, output]).toEqual([5, `Nothing to send: no session found in ${path}.\n`]);
    const lines = [1, 2, 3, 4, 5].map((line) => `! Skipped: ${path}:${line}: not JSON\n`);
    expect(errors).toBe(`${lines.join("")}! and 12 more\n`);
    expect(await push(path)).toMatchObject({ code: 5, invalid: 17, sent: { sessions: 0 } });
    expect(await push("--dry-run", path)).toMatchObject({ code: 5, invalid: 17, sessions: [] });
    expect(fake.uploads).toEqual([]);
  });

  test("has its sessions sent even where other lines are invalid, and fails again in the next run", async () => {
    const { home, run, fake } = await world(0);
    const path = await writeBelow(home, "mixed.jsonl", `${toLines(session("a"), { traces: [] })}{"sourceId":"b","mes`);
    for (const output of [expect.stringContaining("Sent 1 session"), "Nothing new: 1 session is already archived.\n"]) {
      const ran = await run(["push", path]);
      expect([ran.code, ran.output]).toEqual([5, output]);
      expect(ran.errors).toBe(
        `! Skipped: ${path}:2: not a session: it needs sourceId and messages\n! Skipped: ${path}:3: not JSON\n`,
      );
    }
    expect([...fake.archive.keys()]).toEqual(["unknown/a"]);
  });

  test("that is empty has nothing to send", async () => {
    const { home, run } = await world(0);
    const path = await writeBelow(home, "empty.jsonl", "");
    expect(await run(["push", path])).toEqual({
      code: 0,
      output: `Nothing to send: no session found in ${path}.\n`,
      errors: "",
    });
  });

  test("that can't be read is listed and fails", async () => {
    const { home, spawn } = await world(0);
    await symlink("/proc/self/mem", join(home, "mem.jsonl"));
    const { code, errors } = await spawn(["push", "mem.jsonl"]); // below the current folder of its process
    expect([code, errors]).toEqual([5, expect.stringContaining("! Not sent: jsonl mem.jsonl: it can't be read")]);
  });
});

describe("--source and --project", () => {
  const names = (source: string[], project: string[] = []) => ({ source, project });

  test("that match no session fail with the known ones, before and after the sessions were sent", async () => {
    const { host, fake } = await worldInside(2);
    for (const sent of [false, true]) {
      if (sent) await pushInside(host);
      const source = await runInside(push, host, { values: names(["claude-cod"]) });
      expect([source.code, source.output]).toEqual([2, "Nothing to send: no session matches.\n"]);
      expect(source.errors).toMatch(
        /^spoor: --source "claude-cod" matches no session\. Known sources: .*claude-code, .*\.\n$/,
      );
      const project = await runInside(push, host, { values: names([], ["apj"]) });
      expect([project.code, project.errors]).toEqual([
        2,
        'spoor: --project "apj" matches no session. Known projects: api.\n',
      ]);
      const dry = await pushInside(host, { "dry-run": true, ...names([], ["apj"]) });
      expect(dry).toMatchObject({ code: 2, error: "usage", message: expect.stringContaining("apj"), sessions: [] });
    }
    expect(fake.archive.size).toBe(2);
  });

  test("fail where one of several matches nothing, and the others are sent", async () => {
    const { host, fake } = await worldInside(2);
    const { code, sent, message } = await pushInside(host, names([], ["api", "web"]));
    expect([code, sent.sessions, message]).toEqual([2, 2, expect.stringContaining('--project "web"')]);
    expect(fake.archive.size).toBe(2);
  });

  test("list at most ten known projects", async () => {
    const { host, home } = await worldInside(0);
    const traces = Array.from({ length: 22 }, (_, index) => session(`s${index}`, { project: `p${index + 10}` }));
    await writeBelow(home, ".local/share/spoor/jsonl/x.jsonl", toLines(...traces));
    const { errors } = await runInside(push, host, { values: { "dry-run": true, ...names([], ["x"]) } });
    expect(errors).toContain("Known projects: p10, p11, p12, p13, p14, p15, p16, p17, p18, p19 and 12 more.");
  });

  test("count only matching sessions as archived", async () => {
    const { host, home } = await worldInside(2);
    const own = session("a", { source: "own", project: "web" });
    await writeBelow(home, ".local/share/spoor/jsonl/x.jsonl", toLines(own));
    expect(await pushInside(host)).toMatchObject({ code: 0, sent: { sessions: 3 } });
    expect(await pushInside(host)).toMatchObject({ code: 0, same: 3 });
    expect(await pushInside(host, names([], ["web"]))).toMatchObject({ code: 0, same: 1, sent: { sessions: 0 } });
    expect(await pushInside(host, names(["own"]))).toMatchObject({ code: 0, same: 1 });
    expect(await pushInside(host, names(["claude-code"], ["api"]))).toMatchObject({ code: 0, same: 2 });
  });

  test("select by each session's own source in a file named as an argument", async () => {
    const { host, home, fake } = await worldInside(0);
    const lines = toLines(session("a", { source: "one" }), session("b", { source: "two" }));
    const path = await writeBelow(home, "x.jsonl", lines);
    expect(await pushInside(host, names(["two"]), [path])).toMatchObject({ code: 0, sent: { sessions: 1 } });
    expect([...fake.archive.keys()]).toEqual(["two/b"]);
  });

  test("only warn where --since leaves out files that were never read", async () => {
    const { host, home } = await worldInside(2);
    for (const number of [1, 2]) await utimes(join(home, claudePath(number)), new Date(), new Date(Date.now() - 9e9));
    const recent = (project: string) => ({ since: "1d", ...names([], [project]) });
    expect(await runInside(push, host, { values: recent("api") })).toMatchObject({
      code: 0,
      output: "Nothing to send: no session matches.\n",
      errors: '--project "api" matches no session.\n',
    });
    await pushInside(host);
    expect(await pushInside(host, recent("api"))).toMatchObject({ code: 0, errors: "" });
    expect(await pushInside(host, recent("web"))).toMatchObject({ code: 2 });
  });
});

test("a home without sessions has nothing to send, and scan and push say where to look", async () => {
  const { run } = await world(0);
  for (const command of ["scan", "push"]) {
    const { code, output } = await run([command]);
    expect([code, output]).toEqual([0, expect.stringMatching(/[Nn]o sessions found.*: node .* doctor$/m)]);
  }
});

describe("scan", () => {
  test("says which telemetry was sent and how to turn it off", async () => {
    const { fake, run } = await world(1);
    const { output } = await run(["scan"]);
    expect(output).toMatch(/^Scanned in \d+\.\d s\. No session was sent\.$/m);
    expect(output).toContain(
      `Telemetry was sent to ${fake.url}: counts and line types, no content.\nTurn it off with --no-telemetry or DO_NOT_TRACK=1.\n`,
    );
    expect(fake.telemetry).toHaveLength(1);
    const off = await run(["scan", "--no-telemetry"]);
    expect(off.output).toContain("No telemetry was sent.\n");
    const loggedOut = await run(["scan"], { SPOOR_TOKEN: "" });
    expect(loggedOut.output).toContain("No telemetry was sent.\n");
    expect(fake.telemetry).toHaveLength(1);
  });

  test("names agents whose sessions can't be read, and why", async () => {
    const { home, run } = await world(1);
    await writeBelow(home, ".codeium/windsurf/cascade/1.pb", "\u0001");
    const path = join(home, ".codeium/windsurf/cascade");
    const { code, errors } = await run(["scan"]);
    const why = "it encrypts them";
    expect([code, errors]).toEqual([0, `Windsurf has sessions that can't be read: ${why}. See ${path}\n`]);
    const { output } = await run(["scan", "--json"]);
    expect(JSON.parse(output).unreadable).toEqual([{ name: "windsurf", title: "Windsurf", path, why }]);
    expect((await run(["scan", "--source", "claude-code"])).errors).toBe("");
  });

  test("lists invalid lines by file and line", async () => {
    const { home, run } = await world(1);
    const path = await writeBelow(home, claudePath(2), `${toLines({ type: "summary" })}{"type":\n[1]\n`);
    const { code, errors } = await run(["scan"]);
    expect([code, errors]).toEqual([0, `! Skipped: ${path}:2: not JSON\n! Skipped: ${path}:3: not a JSON object\n`]);
  });
});

test("status aligns its text columns to the left", async () => {
  const { run, push } = await world(1, { job: () => ({ status: "failed", error: { message: "No." } }) });
  await push();
  const { code, output } = await run(["status"]);
  const [heading = "", row = ""] = output.split("\n");
  expect([code, heading.indexOf("Job"), heading.indexOf("Status")]).toEqual([
    5,
    row.indexOf("job-"),
    row.indexOf("failed"),
  ]);
});

test("an error response is shown with its fields and request id", async () => {
  const { fake, run } = await world(0);
  fake.failWith(() =>
    problem(400, { errors: [{ path: "machine", message: "is required" }] }, { "X-Request-Id": `r-${makeId(1)}` }),
  );
  const { code, errors } = await run(["login", "--machine", ""]);
  expect([code, errors]).toEqual([1, `spoor: No. machine: is required. (request r-${makeId(1)})\n`]);
});
