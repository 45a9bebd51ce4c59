import { execFileSync } from "node:child_process";
import { chmod, readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Context } from "../../cli/context.ts";
import { agreeToPlainHttp } from "../../cli/server/origin.ts";
import { readSettings } from "../../cli/settings.ts";
import { Terminal } from "../../cli/terminal/terminal.ts";
import { startFake } from "./fake-server.ts";
import { makeHome, toLines, writeBelow } from "./home.ts";
import { claudePath, problem, world } from "./world.ts";

const account = (token: string) => {
  return { token, userId: "u1", name: "Ada", email: "a@example.org", machine: "m", expiresAt: "" };
};
const token = `spoor_${"Zx9".repeat(12)}`;

/** The tokens that a server is sent. */
function watchTokens(fake: Awaited<ReturnType<typeof startFake>>): Set<string | undefined> {
  const seen = new Set<string | undefined>();
  fake.failWith(({ headers }: IncomingMessage) => void seen.add(headers.authorization));
  return seen;
}

describe("a token is sent to its own server only", () => {
  test("SPOOR_TOKEN to the server that stands beside it", async () => {
    const { fake, run, spawn } = await world(1);
    const other = await startFake();
    for (const command of ["whoami", "push", "watch", "status", "doctor", "scan"]) {
      const call = command === "watch" ? spawn : run;
      const { code, output, errors } = await call([command, "--server", other.url], { SPOOR_TOKEN: token });
      expect([command, code, output]).toEqual([command, 2, ""]);
      expect(errors).toBe(
        `spoor: SPOOR_TOKEN is for ${fake.url}, so it is not sent to ${other.url}. Set SPOOR_URL=${other.url} if it is for that server, or unset SPOOR_TOKEN to use your login there.\n`,
      );
    }
    const unnamed = await run(["push", "--server", other.url], { SPOOR_TOKEN: token, SPOOR_URL: "" });
    expect(unnamed).toMatchObject({ code: 2, errors: expect.stringContaining("does not specify its server") });
    expect([fake.requests, other.requests]).toEqual([[], []]);
    const seen = watchTokens(fake);
    expect((await run(["whoami", "--server", fake.url], { SPOOR_TOKEN: token })).code).toBe(0);
    expect([...seen]).toEqual([`Bearer ${token}`]);
  });

  test("a login's token to the server of that login", async () => {
    const { fake, home, run } = await world(1);
    const other = await startFake();
    const accounts = { [fake.url]: account(token), "https://spoor.example": account("spoor_elsewhere") };
    await writeBelow(
      home,
      ".config/spoor/settings.json",
      JSON.stringify({ deviceId: "d", server: fake.url, accounts }),
    );
    const [own, strange] = [watchTokens(fake), watchTokens(other)];
    for (const server of [fake.url, other.url]) {
      for (const command of ["push", "doctor", "logout"]) await run([command], { SPOOR_URL: server, SPOOR_TOKEN: "" });
    }
    expect([...own]).toContain(`Bearer ${token}`);
    expect([...strange]).toEqual([undefined]);
    expect(other.requests).toEqual(["GET /api/health"]);
  });

  test("and neither a redirect nor a login takes it elsewhere", async () => {
    const { fake, run } = await world(1);
    const other = await startFake();
    const words = { whoami: 301, login: 302, push: 307, status: 308 };
    for (const [command, status] of Object.entries(words)) {
      fake.failWith(() => ({ status, headers: { Location: `${other.url}/api/cli/session` }, body: {} }));
      const { code, errors } = await run([command], { SPOOR_TOKEN: token });
      expect([command, code, errors]).toEqual([command, 1, expect.stringContaining(`a redirect to ${other.url}`)]);
    }
    for (const location of ["https://a;b$(c).example/", "javascript:alert(1)", "/elsewhere"]) {
      fake.failWith(() => ({ status: 302, headers: { Location: location }, body: {} }));
      expect((await run(["whoami"], { SPOOR_TOKEN: token })).errors).toMatch(/answered 302: a redirect\.\n$/);
    }
    expect(other.requests).toEqual([]);
    const seen = watchTokens(other);
    await run(["login", "--server", other.url, "--patience", "0"], { SPOOR_TOKEN: token });
    expect([...seen]).toEqual([undefined]);
  });

  test("and SPOOR_TOKEN does not follow a login, where nothing beside it says which server it is for", async () => {
    const { fake, home, run } = await world(1);
    const stored = { deviceId: "d", server: fake.url, accounts: { [fake.url]: account("spoor_of_the_login") } };
    await writeBelow(home, ".config/spoor/settings.json", JSON.stringify(stored));
    const seen = watchTokens(fake);
    for (const words of [["whoami"], ["push", "--server", fake.url]]) {
      const { code, errors } = await run(words, { SPOOR_TOKEN: token, SPOOR_URL: "" });
      expect([code, errors]).toEqual([2, expect.stringContaining("SPOOR_TOKEN does not specify its server")]);
    }
    expect([...seen]).toEqual([]);
    await run(["whoami"], { SPOOR_TOKEN: "", SPOOR_URL: "" });
    expect([...seen]).toEqual(["Bearer spoor_of_the_login"]);
  });
});

describe("the approval page", () => {
  const started = (page: unknown) => ({
    ok: true,
    deviceCode: "d",
    userCode: "WDJB-MJHT",
    verificationUriComplete: page,
    interval: 0.05,
  });

  /** A browser that writes down what it opens. */
  async function login(pageOf: (url: string) => unknown) {
    const { fake, home, run } = await world(0);
    const browser = await writeBelow(home, "browser", `#!/bin/sh\nprintf '%s\\n' "$@" >> '${home}/opened'\n`);
    await chmod(browser, 0o755);
    fake.failWith(({ url }) => {
      if (url !== "/api/cli/device/start") return problem(403, { error: "access_denied" });
      return { status: 200, body: started(pageOf(fake.url)) };
    });
    const ran = await run(["login"], { BROWSER: browser, SPOOR_TOKEN: "" });
    execFileSync(browser, ["end"]); // the one that a login opens was started before
    const opened = async () => (await readFile(join(home, "opened"), "utf8")).split("\n").filter(Boolean).sort();
    return { ...ran, url: fake.url, opened };
  }

  test("is shown and opened where it is on the server itself", async () => {
    const { code, output, opened, url } = await login((server) => `${server}/device?code=WDJB-MJHT`);
    expect(code).toBe(3);
    await expect.poll(opened).toEqual(["end", `${url}/device?code=WDJB-MJHT`]);
    expect(output).toContain(`\n  ${url}/device?code=WDJB-MJHT\n`);
  });

  test.each([
    ["https://spoor.evil.example/device", /another server, https:\/\/spoor\.evil\.example\. It was not opened\./],
    ["http://127.0.0.1@evil.example/device", /another server, http:\/\/evil\.example\./],
    ["http://127.0.0.1:1/device", /another server, http:\/\/127\.0\.0\.1:1\./],
    ["http://127.0.0.1.evil.example/\x1b]0;x\x07", /another server, http:\/\/127\.0\.0\.1\.evil\.example\./],
    ["https://evil.example;{curl,evil.example};$({id,-u})/device", /sent no valid approval page/],
    ["file:///etc/passwd", /sent no valid approval page/],
    ["/device", /sent no valid approval page/],
    [["https://evil.example"], /sent no valid approval page/],
  ])("is not opened at %j", async (page, told) => {
    const { code, output, errors, opened } = await login(() => page);
    expect([code, output, await opened()]).toEqual([1, "", ["end"]]);
    expect(errors).toMatch(told);
  });
});

describe("plain http to another machine", () => {
  test("is refused where nobody can be asked, before anything is sent", async () => {
    const { run, spawn, fake } = await world(1);
    const { port } = new URL(fake.url);
    const servers = [`http://0.0.0.0:${port}`, "http://spoor.test", "http://localhost.evil.example"];
    for (const [index, command] of ["login", "push", "whoami", "status", "watch", "doctor", "logout"].entries()) {
      const call = command === "watch" ? spawn : run;
      const { code, output, errors } = await call([command], { SPOOR_URL: servers[index % 3] ?? "" });
      expect([command, code, output]).toEqual([command, 2, ""]);
      expect(errors).toMatch(/^spoor: http:\S+ is not encrypted: .* Use https, or pass --insecure to allow it\.\n$/);
    }
    const scan = await run(["scan"], { SPOOR_URL: `http://0.0.0.0:${port}` });
    expect([scan.code, scan.output]).toEqual([0, expect.stringContaining("No telemetry was sent.")]);
    expect(fake.requests).toEqual([]);
    const { code, output } = await run(["push", "--insecure"], { SPOOR_URL: `http://0.0.0.0:${port}` });
    expect([code, output]).toEqual([0, expect.stringContaining("Sent 1 session")]);
  });

  test.each(["http://localhost:1", "http://127.1.2.3:1", "http://[::1]:1"])("is no question at %s", async (server) => {
    const { run } = await world(0);
    expect((await run(["whoami", "--patience", "0"], { SPOOR_URL: server })).code).toBe(4);
  });

  /** Asks as on a terminal, where somebody types an answer. */
  async function ask(host: Context["host"], answer: string) {
    let shown = "";
    const stream = { write: (text: string) => (shown += text), on: () => {}, isTTY: true };
    const input = Object.assign(new PassThrough(), { isTTY: true }) as unknown as NodeJS.ReadStream;
    const terminal = new Terminal(stream, stream, { isJson: false, env: { NO_COLOR: "1" }, input: () => input });
    (input as unknown as PassThrough).end(answer);
    const { signal } = new AbortController();
    const context = { host, terminal, values: {}, words: [], signal };
    const agreed = agreeToPlainHttp(context, await readSettings(host), "http://nas.test");
    return { shown: () => shown, agreed };
  }

  test("is asked about, and a yes is remembered for that server", async () => {
    const host = await makeHome();
    for (const answer of ["", "\n", "no\n", "nay\n", "yesterday\n"]) {
      const { agreed, shown } = await ask(host, answer);
      await expect(agreed).rejects.toThrow("Nothing was sent.");
      expect(shown()).toMatch(/http:\/\/nas\.test is not encrypted: .* Use it anyway\? \[y\/N] \n?$/);
    }
    const { agreed } = await ask(host, "y\n");
    expect((await agreed).plainHttp).toEqual(["http://nas.test"]);
    const again = await ask(host, "");
    expect((await again.agreed).plainHttp).toEqual(["http://nas.test"]);
    expect(again.shown()).toBe("");
  });
});

describe("a token with a stray character", () => {
  test.each([
    [`${token}\n`, "ends with a line break"],
    [`${token}\r\n`, "ends with a line break"],
    [` ${token}`, "begins with a space"],
    [`Bearer ${token}`, "contains a space"],
    [`"${token}"`, "begins with a quotation mark"],
    [`${token}\t`, "ends with a tab"],
    [`${token.slice(0, 20)}\u200b${token.slice(20)}`, "contains an invisible character"],
    [`${token}é`, "ends with an invalid character"],
  ])("%j is refused in words that have none of it", async (value, told) => {
    const { run, fake } = await world(1);
    const words = value.length % 2 === 0 ? ["push"] : ["whoami", "--json"];
    const { code, output, errors } = await run(words, { SPOOR_TOKEN: value });
    expect([code, output + errors]).toEqual([2, expect.stringContaining(`SPOOR_TOKEN ${told}. Set it to`)]);
    for (const part of token.match(/.{6}/g) ?? []) expect(output + errors).not.toContain(part);
    expect(fake.requests).toEqual([]);
  });

  test("in the settings asks for a new login", async () => {
    const { run, fake, home } = await world(1);
    const accounts = { [fake.url]: account(`${token}\n`) };
    await writeBelow(home, ".config/spoor/settings.json", JSON.stringify({ deviceId: "d", accounts }));
    const { code, errors } = await run(["push"], { SPOOR_TOKEN: "" });
    expect([code, errors]).toEqual([3, expect.stringContaining("The stored token ends with a line break")]);
  });
});

describe("no output has the token", () => {
  /** Faults of a server that answers with the token that it was sent. */
  const faults = {
    echo: (sent: string) =>
      problem(400, { detail: sent, errors: [{ path: sent, message: sent }] }, { "X-Request-Id": sent }),
    unavailable: (sent: string) => problem(500, { detail: `It was ${sent}` }, { "Retry-After": "0" }),
    account: (sent: string) => ({
      status: 200,
      body: { ok: true, userId: sent, user: { name: sent, email: sent }, machine: sent, expiresAt: sent, jobId: sent },
    }),
    redirect: (sent: string) => ({ status: 307, headers: { Location: `https://${sent}.example/${sent}` } }),
    "hang up": () => "hang up" as const,
  };
  const commands = [["login"], ["logout"], ["whoami"], ["scan", "--show-telemetry"], ["push"], ["status"], ["doctor"]];

  test.each(Object.keys(faults) as (keyof typeof faults)[])(
    "of any command, where the server's fault is %s",
    async (name) => {
      const { run, fake, home } = await world(1);
      await writeBelow(home, claudePath(2), toLines({ type: token }, { type: token.toLowerCase() }));
      const stored = { deviceId: "d", server: fake.url, accounts: { [fake.url]: account(token) } };
      fake.failWith(({ headers }) => faults[name]((headers.authorization ?? `Bearer ${token}`).replace("Bearer ", "")));
      for (const [index, words] of commands.entries()) {
        // The token of a variable or of a login, in turns.
        const isStored = (index + name.length) % 2 === 0;
        await writeBelow(home, ".config/spoor/settings.json", JSON.stringify(isStored ? stored : { deviceId: "d" }));
        const json = isStored === index > 3 ? ["--json"] : [];
        const environment = { SPOOR_TOKEN: isStored ? "" : token };
        const { output, errors } = await run([...words, ...json, "--patience", "0"], environment);
        expect(`${words}: ${output}${errors}`.toLowerCase()).not.toContain(token.toLowerCase());
      }
    },
  );

  test("of telemetry, where a file has one as a type", async () => {
    const { run, fake, home } = await world(1);
    await writeBelow(home, claudePath(2), toLines({ type: token }, { type: "hologram" }));
    const { output } = await run(["scan", "--show-telemetry"], { SPOOR_TOKEN: token });
    expect(output + JSON.stringify(fake.telemetry)).not.toContain(token);
    expect(fake.telemetry).toEqual([
      expect.objectContaining({ diagnostics: [expect.objectContaining({ unhandledTypes: ["other", "hologram"] })] }),
    ]);
  });

  test("of a wrong argument, or of an unexpected error", async () => {
    const { run, spawn, home } = await world(1);
    const words = [
      [token],
      ["help", token],
      ["push", token],
      [`--${token}`],
      ["whoami", token],
      ["push", "--since", token],
    ];
    const options = [
      ["scan", "--source", token],
      ["push", "--project", token],
      ["whoami", "--server", token],
    ];
    for (const all of [...words, ...options, ["whoami", "--patience", token]]) {
      const { output, errors } = await run(all);
      expect(output + errors).toContain("[token]");
      expect(output + errors).not.toContain(token);
    }
    expect((await run(["whoami"], { SPOOR_URL: token })).errors).toContain('"[token]" is not an http or https URL');
    const thrower = `setTimeout(() => { throw new Error(process.env.SPOOR_TOKEN + "\\x1b[2J") }, 150)`;
    const crash = await writeBelow(home, "crash.mjs", thrower);
    const { code, errors } = await spawn(["watch"], {
      SPOOR_TOKEN: "a-secret-token",
      NODE_OPTIONS: `--import=${crash}`,
    });
    expect([code, errors]).toEqual([1, expect.stringMatching(/^spoor: Error: \[token\] \[2J\n {4}at /m)]);
    expect(errors).not.toContain("a-secret-token");
  });
});
