import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { clientFile } from "#server/build/stamps";
import { whoami } from "../../cli/commands/account.ts";
import { doctor } from "../../cli/commands/doctor.ts";
import { login } from "../../cli/commands/login.ts";
import { push } from "../../cli/commands/push.ts";
import { ended, provideClient } from "../support/client.ts";
import { writeBelow } from "./home.ts";
import { runInside, worldInside } from "./inside.ts";
import { quickenClock } from "./quick-clock.ts";
import { problem, world } from "./world.ts";

const settingsFile = ".config/spoor/settings.json";
const started = (url: string) => ({
  status: 200,
  body: {
    ok: true,
    deviceCode: "d".repeat(43),
    userCode: "WDJB-MJHT",
    verificationUri: `${url}/device`,
    verificationUriComplete: `${url}/device?code=WDJB-MJHT`,
    expiresIn: 600,
    interval: 0.05,
  },
});
const pending = { status: 202, body: { ok: true, status: "pending", interval: 0.05, expiresIn: 600 } };
const approved = {
  status: 200,
  body: { ok: true, status: "approved", token: `spoor_${"a".repeat(36)}`, userId: "u1", user: { name: "Ada" } },
};

describe("SPOOR_TOKEN", () => {
  test("tells a dry run what was sent before", async () => {
    const { host } = await worldInside(2);
    await runInside(push, host);
    const dry = await runInside(push, host, { values: { "dry-run": true } });
    expect([dry.code, dry.output, dry.errors]).toEqual([0, "Nothing new: 2 sessions are already archived.\n", ""]);
  });

  test("can't tell where the server is away: a dry run says so", async () => {
    quickenClock();
    const { host, fake } = await worldInside(1);
    await runInside(push, host);
    fake.failWith(() => problem(400, {}));
    expect(await runInside(push, host, { values: { "dry-run": true } })).toMatchObject({ code: 400 });
    await fake.close();
    const dry = await runInside(push, host, { values: { "dry-run": true, patience: "0" } });
    expect([dry.code, dry.output]).toEqual([0, expect.stringContaining("Would send 1 session")]);
    expect(dry.errors).toMatch(/can't be reached: .*\. Sent sessions are listed as new\.\n/);
  }, 60_000);

  test("that was revoked is to be replaced: a login would not help", async () => {
    const { fake, run } = await world(0);
    fake.failWith(({ url }) =>
      url === "/api/health" ? { status: 200, body: { ok: true } } : problem(401, { error: "invalid_token" }),
    );
    const told = /SPOOR_TOKEN is no longer valid\. Create a new one on the server's page \/devices, or unset/;
    const { code, errors } = await run(["whoami"]);
    expect([code, errors]).toEqual([3, expect.stringMatching(told)]);
    const checked = await run(["doctor"]);
    expect([checked.code, checked.output]).toEqual([3, expect.stringMatching(told)]);
  }, 60_000);
});

describe("a login", () => {
  test("over the rate limit waits as long as the server says, and says so", async () => {
    const { host, fake } = await worldInside(0);
    let starts = 0;
    let polls = 0;
    fake.failWith(({ url = "" }) => {
      if (url === "/api/cli/device/start" && starts++ === 0)
        return problem(429, { error: "rate_limited", detail: "Too many logins." }, { "Retry-After": "11" });
      if (url === "/api/cli/device/start") return started(fake.url);
      if (url.includes("/poll") && polls++ === 0)
        return problem(429, { error: "slow_down", detail: "Too many polls." }, { "Retry-After": "2" });
      return approved;
    });
    const waits = quickenClock();
    const { code, errors } = await runInside(login, host, { values: { "no-browser": true } });
    expect([code, waits.reduce((sum, wait) => sum + wait) > 12_900]).toEqual([0, true]);
    expect(errors).toMatch(
      /^Too many logins\. Trying again in 0:11\. Stop with Ctrl-C\.\nToo many polls\. Trying again in 0:02\./,
    );
    expect([starts, polls]).toEqual([2, 2]);
  }, 60_000);

  test("over a limit beyond --patience ends, and says when to come back", async () => {
    const { fake, run } = await world(0);
    fake.failWith(() => problem(429, { detail: "Too many logins." }, { "Retry-After": "590" }));
    const { code, errors } = await run(["login", "--patience", "20"]);
    expect([code, errors]).toEqual([4, "spoor: Too many logins. Try again in 9:50.\n"]);
  }, 60_000);

  test("keeps what another command changed meanwhile, and puts broken settings aside", async () => {
    const { host, home, fake } = await worldInside(0);
    const path = await writeBelow(home, settingsFile, '{"projects":');
    let isApproved = false;
    fake.failWith(({ url }) => {
      if (url === "/api/cli/device/start") return started(fake.url);
      return isApproved ? approved : pending;
    });
    const began = runInside(login, host, { values: { "no-browser": true } });
    await expect.poll(() => fake.requests.length).toBeGreaterThan(0);
    await writeBelow(home, settingsFile, '{"projects":[{"exclude":"api"}],"fromNewer":1}');
    isApproved = true;
    const { code, errors } = await began;
    expect([code, errors]).toEqual([
      0,
      expect.stringMatching(/could not be read and was moved to .*settings\.json\.broken/),
    ]);
    const settings = JSON.parse(await readFile(path, "utf8"));
    expect(settings).toMatchObject({ projects: [{ exclude: "api" }], fromNewer: 1, server: fake.url });
    expect(await readFile(`${path}.broken`, "utf8")).toBe('{"projects":');
  });

  test("whose token can't be stored is revoked: nobody has it", async () => {
    const { host, home, fake } = await worldInside(0);
    const revoked: string[] = [];
    let isApproved = false;
    fake.failWith(({ url, method, headers }) => {
      if (url === "/api/cli/device/start") return started(fake.url);
      if (method === "DELETE") revoked.push(String(headers.authorization));
      return isApproved ? approved : pending;
    });
    const began = runInside(login, host, { values: { "no-browser": true } });
    await expect.poll(() => fake.requests.length).toBeGreaterThan(0);
    await rm(join(home, ".config"), { recursive: true });
    await writeBelow(home, ".config", "a file in the folder's place");
    isApproved = true;
    const { code, message } = await began;
    expect([code, message]).toEqual([1, expect.stringContaining("Can't write ")]);
    expect(revoked).toEqual([`Bearer spoor_${"a".repeat(36)}`]);
  });
});

describe("doctor", () => {
  test("writes where it must be possible, and leaves nothing", async () => {
    const { host, home, fake } = await worldInside(0);
    fake.failWith(({ url }) => (url === "/api/health" ? { status: 200, body: { ok: true } } : undefined));
    const fine = await runInside(doctor, host);
    expect([fine.code, fine.output]).toEqual([
      0,
      expect.stringMatching(/✓ settings folder .*can be written to\n✓ state folder /),
    ]);
    expect(fine.output).toMatch(/· agents +\d+ agents not installed\n/);
    for (const folder of [".config", ".local"]) expect(await readdir(home)).not.toContain(folder);
    host.env.XDG_CONFIG_HOME = "/dev/null/config";
    host.env.XDG_STATE_HOME = "/dev/null/state";
    const broken = await runInside(doctor, host);
    expect(broken.code).toBe(1);
    expect(broken.output).toMatch(
      /✗ settings folder +\/dev\/null\/config\/spoor can't be written to, so no login and no/,
    );
    expect(broken.output).toMatch(
      /✗ state folder +\/dev\/null\/state\/spoor can't be written to, so everything is read/,
    );
  });
});

describe("a page of a proxy", () => {
  test.each([
    [401, 1, /answered 401, but not as Spoor does\. A proxy or a sign-in page may have answered/],
    [403, 1, /answered 403, but not as Spoor does/],
    [511, 1, /answered 511, but not as Spoor does/],
    [502, 502, /^The server answered 502\.$/],
    [200, 1, /is not a Spoor server \(it answered 200\)/],
  ])("with the status %i is never taken for an answer of Spoor's", async (status, code, told) => {
    const proxy = createServer((_, response) => void response.writeHead(status).end("<h1>Please sign in</h1>"));
    onTestFinished(() => void proxy.close());
    await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
    const { host } = await worldInside(0);
    host.env.SPOOR_URL = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const ran = await runInside(whoami, host, { values: { patience: "0" } });
    expect([ran.code, ran.message]).toEqual([code, expect.stringMatching(told)]);
  });
});

describe("a strange place to start from", () => {
  test("a current folder that was removed, and no home folder", async () => {
    const client = await provideClient(() => resolve(clientFile));
    const folder = join(client.home, "gone");
    await mkdir(folder);
    const { spawn } = await import("node:child_process");
    const words = `cd '${folder}' && rmdir '${folder}' && '${process.execPath}' '${resolve(clientFile)}' scan`;
    const env = { NODE_ENV: "production" as const, PATH: process.env.PATH, HOME: client.home };
    const gone = await ended(spawn("sh", ["-c", words], { env }));
    expect([gone.code, gone.errors, gone.output]).toEqual([0, "", expect.stringContaining("No sessions found")]);
    for (const HOME of ["", "relative"]) {
      const { code, errors } = await client.run(["scan"], { HOME });
      expect([code, errors]).toEqual([2, "spoor: Unknown home folder. Set HOME to its path.\n"]);
    }
    const { errors } = await client.run(["push", "--dryrun"]);
    expect(errors).toMatch(/^spoor: Unknown option '--dryrun'\. Did you mean --dry-run\? See: .* push --help\n$/);
  }, 120_000);
});
