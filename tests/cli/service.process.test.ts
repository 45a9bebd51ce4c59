import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Host } from "../../cli/adapters/adapter.ts";
import { writeManifest } from "../../cli/install/manifest.ts";
import { getLogPath, readLastLines } from "../../cli/service/log.ts";
import { saveState } from "../../cli/service/state.ts";
import { forgetTroubles, noteTrouble, notify, readTroubles } from "../../cli/service/troubles.ts";
import { startFake } from "./fake-server.ts";
import { toLines, writeBelow } from "./home.ts";
import { bundle, hurried, makeMachine } from "./machine.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId, problem } from "./world.ts";

const client = await bundle("1.2.0");

/** Waits until a condition holds. */
async function until(holds: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (const startedAt = performance.now(); !(await holds()); await sleep(20)) {
    if (performance.now() - startedAt > 20_000) throw new Error(`${what}: not within 20 s`);
  }
}

/** A machine with a login and a session, and a server of which each test makes what it needs. */
async function world() {
  const fake = await startFake();
  const machine = await makeMachine(client);
  const host: Host = { home: machine.home, cwd: machine.home, env: machine.env, platform: "linux" };
  const logIn = (token: string) =>
    writeBelow(
      machine.home,
      ".config/spoor/settings.json",
      JSON.stringify({ deviceId: "d", server: fake.url, accounts: { [fake.url]: { token, userId: "u1" } } }),
    );
  await logIn("spoor_first");
  await writeBelow(machine.home, claudePath(1), toLines(...claudeLines(makeId(1), 1)));
  /** Starts the service. @returns what stops it and tells its exit code */
  const begin = async (paces: Record<string, number> = {}) => {
    await writeFile(machine.file, hurried(client, paces).replaceAll("@SPOOR_SERVER@", fake.url));
    const child = machine.start([process.execPath, machine.file, "service", "run", "--server", fake.url]);
    const gone = once(child, "close") as Promise<[number | null]>;
    const stop = async () => {
      child.kill("SIGTERM");
      return (await gone)[0];
    };
    onTestFinished(async () => void (await stop()));
    return { stop, gone };
  };
  const notices = async () => (await machine.calls()).filter((call) => call.startsWith("notify-send"));
  const troubles = async () => (await readTroubles(host)).map(({ cause }) => cause);
  return { fake, host, logIn, begin, notices, troubles, ...machine };
}

describe("the service", () => {
  test("sends, is heard, and leaves no trace of running behind when it is stopped", async () => {
    const { fake, host, begin, exec, file, home } = await world();
    const { stop } = await begin();
    await until(() => fake.archive.size === 1, "the session");
    await until(
      async () => /heardAt/.test(await readFile(join(home, ".local/state/spoor/service.json"), "utf8")),
      "heard",
    );
    await until(
      async () => /^\S+Z {2}Started[\s\S]*\n\S+Z .*1 new/.test((await readLastLines(host, 99)).join("\n")),
      "the log",
    );
    expect(await stop()).toBe(0);
    expect((await readLastLines(host, 1))[0]).toContain("Stopped.");
    const logs = await exec([process.execPath, file, "service", "logs", "--lines", "1"]);
    expect([logs.code, logs.output]).toEqual([0, expect.stringContaining("Stopped.")]);
  });

  test("with a dead token says so once, in the status too, and goes on after the next login", async () => {
    const { fake, begin, logIn, notices, troubles, run, host } = await world();
    fake.failWith(({ headers, url }) =>
      url !== "/api/limits" && headers.authorization !== "Bearer spoor_second" ? problem(401) : undefined,
    );
    await begin({ lookMs: 20, reportMs: 30, troubledReportMs: 30 });
    await until(async () => (await notices()).length > 0, "the notification");
    await until(async () => ((await readTroubles(host))[0]?.times ?? 0) > 3, "more tries");
    expect(await notices()).toEqual([
      `notify-send --app-name Spoor -- Spoor This machine is not logged in to ${fake.url} any more. Log in with: spoor login`,
    ]);
    const status = await run(["status", "--server", fake.url]);
    expect([status.code, status.errors]).toEqual([3, expect.stringContaining("is not logged in to")]);
    await logIn("spoor_second");
    await until(() => fake.archive.size === 1, "the session");
    await until(async () => (await troubles()).length === 0, "no trouble");
    await noteTrouble(host, "unreachable", "The server is away.");
    const answered = await run(["status", "--server", fake.url]);
    expect([answered.errors, await readTroubles(host)]).toEqual(["", []]);
  });

  test("with a full account says so, tries again, and forgets it once there is room", async () => {
    const { fake, begin, notices, troubles } = await world();
    let isFull = true;
    fake.failWith(({ url }) =>
      isFull && url === "/api/ingest"
        ? problem(413, { error: "payload_too_large", detail: "You have 7 of 7 MB." })
        : undefined,
    );
    await begin({ lookMs: 20, restMs: 50, wellMs: 1500 });
    await until(async () => (await notices()).length > 0, "the notification");
    expect((await notices())[0]).toContain(
      `Your account at ${fake.url} is full, so no session is sent: You have 7 of 7 MB.`,
    );
    isFull = false;
    await until(() => fake.archive.size === 1, "the session");
    await until(async () => (await troubles()).length === 0, "no trouble");
    expect(await notices()).toHaveLength(1);
  });

  test("shows what a server answered as one line without the token, whatever that holds", async () => {
    const { fake, begin, notices, host } = await world();
    const detail = `Full\u0000 of\n\x1b[31mspoor_first ${"x".repeat(200_000)}`;
    fake.failWith(({ url }) =>
      url === "/api/ingest" ? problem(413, { error: "payload_too_large", detail }) : undefined,
    );
    await begin({ lookMs: 20, restMs: 50 });
    await until(async () => ((await readTroubles(host))[0]?.times ?? 0) > 1, "the second try");
    const [notice = "", ...others] = await notices();
    expect([others, notice.length < 3000]).toEqual([[], true]);
    expect(notice).toMatch(/is full, so no session is sent: Full {2}of {2}\[31m\[token\] x+…$/);
    expect(JSON.stringify(await readTroubles(host))).not.toContain("spoor_first");
  });

  test("takes a newer client by itself, ends, and leaves the rest to the system; not where that is not allowed", async () => {
    for (const isAllowed of [true, false]) {
      const { exec, file, host, home, fake, begin } = await world();
      await writeManifest(host, {
        server: fake.url,
        autoUpdate: isAllowed,
        files: {},
        folders: [],
        edits: [],
        hasService: true,
        loggedIn: false,
        madeSettings: false,
        madeState: false,
      });
      const { gone, stop } = await begin({ reportMs: 100 });
      await until(() => fake.archive.size === 1, "the session");
      fake.deliver(client.replaceAll("1.2.0", "1.3.0"), "1.3.0");
      if (isAllowed) expect((await gone)[0]).toBe(0);
      else {
        const heard = fake.requests.length;
        await until(() => fake.requests.length > heard + 3, "some reports");
        expect(await stop()).toBe(0);
      }
      const version = (await exec([process.execPath, file, "--version"])).output.trim();
      expect(version).toBe(isAllowed ? "1.3.0" : "1.2.0");
      const log = await readFile(join(home, ".local/state/spoor/service.log"), "utf8");
      expect(log.includes("Updated to version 1.3.0.")).toBe(isAllowed);
    }
  });
});

describe("troubles", () => {
  const dayMs = 86_400_000;

  test("are shown once a day for each cause, and a server that is away after a day and some tries", async () => {
    const { host, notices } = await world();
    const at = (days: number) => new Date(Date.parse("2026-11-01T10:00:00Z") + days * dayMs);
    for (const hours of [0, 2, 12, 23]) await noteTrouble(host, "quota", "Full.", at(hours / 24));
    expect(await notices()).toHaveLength(1);
    await noteTrouble(host, "quota", "Full.", at(1));
    await noteTrouble(host, "login", "Log in.", at(1));
    expect(await notices()).toHaveLength(3);
    for (let hour = 0; hour < 24; hour++) await noteTrouble(host, "unreachable", "Away.", at(hour / 24));
    expect(await notices()).toHaveLength(3);
    await noteTrouble(host, "unreachable", "Away.", at(1));
    expect((await notices()).at(-1)).toBe("notify-send --app-name Spoor -- Spoor Away.");
    await forgetTroubles(host, ["quota", "login"]);
    expect(await readTroubles(host)).toMatchObject([{ cause: "unreachable", since: at(0).toISOString(), times: 25 }]);
    // A laptop that was shut for days has tried twice.
    await forgetTroubles(host);
    for (const days of [10, 15]) await noteTrouble(host, "unreachable", "Away.", at(days));
    expect(await notices()).toHaveLength(4);
  });

  test("are shown by each system's own program, which gets the message as an argument or a variable, never as its text", async () => {
    const { host, calls, forgetCalls, bin } = await world();
    const message = `"; rm -rf ~ # $(id) 'x`;
    for (const platform of ["darwin", "win32"] as const) {
      await forgetCalls();
      await writeFile(
        join(bin, "powershell"),
        `#!/bin/sh\necho "powershell $# $SPOOR_MESSAGE" >> "${join(bin, "..", "calls")}"\n`,
      );
      await notify({ ...host, platform }, message);
      const [call = ""] = await calls();
      expect(call).toMatch(
        platform === "darwin" ? /^osascript -e on run argv -e .* -e end run "; rm/ : /^powershell 6 "; rm/,
      );
      expect(call.endsWith(`${message}${platform === "darwin" ? " Spoor" : ""}`)).toBe(true);
    }
  });

  test("are no trouble where there is no program to show them, and no place to note them", async () => {
    const { host, bin } = await world();
    await rm(join(bin, "notify-send"));
    await mkdir(join(host.home, ".local/state"), { recursive: true });
    await writeFile(join(host.home, ".local/state/spoor"), "a file");
    await noteTrouble({ ...host, env: { PATH: bin } }, "login", "Log in.");
    expect(await readTroubles(host)).toEqual([]);
  });
});

describe("spoor service", () => {
  test("hook returns at once, sends in a process of its own, and nothing where the service runs", async () => {
    const { fake, host, run, home, notices } = await world();
    await writeManifest(host, {
      server: fake.url,
      autoUpdate: true,
      files: {},
      folders: [],
      edits: [],
      hasService: false,
      loggedIn: false,
      madeSettings: false,
      madeState: false,
    });
    const payload = JSON.stringify({ type: "agent-turn-complete", "turn-id": "1" });
    expect(await run(["service", "hook", "claude-code", payload])).toEqual({ code: 0, output: "", errors: "" });
    await until(() => fake.archive.size === 1, "the session");
    fake.failWith(({ url }) => (url === "/api/cli/session" ? problem(401) : undefined));
    await run(["service", "hook", "claude-code"]);
    await until(async () => (await notices()).length === 1, "the notification");
    fake.failWith(() => undefined);
    // What a `push` by hand can do is no trouble any more.
    expect((await run(["push", "--server", fake.url])).code).toBe(0);
    expect(await readTroubles(host)).toEqual([]);
    await saveState(host, { pid: process.pid, version: "1", server: fake.url, startedAt: new Date().toISOString() });
    const log = await readFile(getLogPath(host), "utf8");
    await writeBelow(home, claudePath(2), toLines(...claudeLines(makeId(2), 1)));
    await run(["service", "hook", "claude-code"]);
    await sleep(300);
    expect([fake.archive.size, await readFile(getLogPath(host), "utf8")]).toEqual([1, log]);
  });

  test("start, stop and status call the system, and end with 1 where that fails or nothing runs", async () => {
    const { host, run, calls, bin, fake } = await world();
    expect((await run(["service", "start"])).errors).toContain("No background service is installed");
    const manifest = { server: fake.url, autoUpdate: false, files: {}, folders: [], edits: [] };
    const rest = { hasService: true, loggedIn: false, madeSettings: false, madeState: false };
    await writeManifest(host, { ...manifest, ...rest });
    for (const [verb, code] of [
      ["start", 0],
      ["stop", 0],
      ["status", 1],
      ["restart", 2],
    ] as const) {
      expect([verb, (await run(["service", verb])).code]).toEqual([verb, code]);
    }
    expect(await calls()).toEqual([
      "systemctl --user daemon-reload",
      "systemctl --user enable --now spoor.service",
      "systemctl --user disable --now spoor.service",
      "systemctl --user is-active spoor.service",
    ]);
    await writeFile(join(bin, "systemctl"), "#!/bin/sh\necho active\n");
    const status = await run(["service", "status"]);
    expect([status.code, status.output]).toEqual([0, expect.stringContaining(`is running and sends to ${fake.url}`)]);
    expect(status.output).toContain("does not update itself");
    await writeFile(join(bin, "systemctl"), "#!/bin/sh\necho 'no bus' >&2; exit 1\n");
    const failed = await run(["service", "start"]);
    expect([failed.code, failed.errors]).toEqual([1, expect.stringContaining("daemon-reload: no bus")]);
  });
});
