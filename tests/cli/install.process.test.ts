import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toLines, writeBelow } from "./home.ts";
import { bundle, makeMachine, oddName, startReleases } from "./machine.ts";
import { claudeLines } from "./sessions.ts";
import { claudePath, makeId } from "./world.ts";

const clients = {
  linux: await bundle("1.2.0"),
  darwin: await bundle("1.2.0", "darwin"),
  win32: await bundle("1.2.0", "win32"),
  newer: await bundle("1.3.0"),
};

async function world(platform: "linux" | "darwin" | "win32" = "linux", tools: Record<string, string> = {}) {
  const releases = await startReleases(clients[platform], "1.2.0");
  const delivered = clients[platform].replaceAll("@SPOOR_SERVER@", releases.url);
  const machine = await makeMachine(delivered, tools, platform);
  return { releases, ...machine };
}

const settings = `{\n    "model": "opus",\n    "env": {"A": 1.50, "B": "\\u00e9"},\n\n    "permissions": { "allow": [] }\n}`;
const config = `model = "gpt-5.5" # mine\n\n[projects."/a"]\ntrust_level = "trusted"\n`;

/** A home of somebody who uses both agents. */
async function withAgents(home: string) {
  await writeBelow(home, ".claude/settings.json", settings);
  await writeBelow(home, ".codex/config.toml", config);
}

describe("install --yes", () => {
  test("on Linux writes the command, the service and the hooks, logs in, and starts the service", async () => {
    const { home, run, exec, calls, releases, env } = await world();
    await withAgents(home);
    const ran = await run(["install", "--yes"], { CODEX_HOME: join(home, ".codex"), SHELL: "/bin/zsh" });
    expect([ran.code, ran.errors]).toEqual([0, ""]);
    expect(ran.output).toContain("Logged in as Ada");
    expect(ran.output).toContain(`Read your sessions at ${releases.url}/traces`);
    expect(ran.output).toContain("not on your PATH");
    expect(ran.output).toContain(".zshrc");
    const launcher = join(home, ".local/bin/spoor");
    expect((await exec([launcher, "--version"])).output).toBe("1.2.0\n");
    // As a command it calls itself so.
    expect((await exec([launcher, "--help"])).output).toContain("  spoor push ");
    const unit = await readFile(join(home, ".config/systemd/user/spoor.service"), "utf8");
    const path = launcher.replaceAll("%", "%%").replaceAll("$", "$$$$");
    // systemd takes no such name for a program, but any for an argument.
    const shell = String.raw`"/bin/sh" "-c" "exec \"$$0\" \"$$@\""`;
    expect(unit).toContain(`ExecStart=${shell} "${path}" "service" "run" "--server" "${releases.url}"\n`);
    expect(unit).toContain(`Environment="CODEX_HOME=${home.replaceAll("%", "%%")}/.codex"\n`);
    expect(unit).not.toContain("spoor_");
    expect((await stat(join(home, ".config/systemd/user/spoor.service"))).mode & 0o777).toBe(0o600);
    expect(await calls()).toEqual([
      "systemctl --user show-environment",
      "systemctl --user is-active spoor.service",
      "systemctl --user daemon-reload",
      "systemctl --user enable --now spoor.service",
    ]);
    const hooks = JSON.parse(await readFile(join(home, ".claude/settings.json"), "utf8")).hooks;
    const { command } = hooks.SessionEnd[0].hooks[0];
    // The command is one that a shell reads as it was meant.
    expect((await exec(["/bin/sh", "-c", `${command} && echo called`], env)).output).toBe("called\n");
    const notify = /^notify = (.*)$/m.exec(await readFile(join(home, ".codex/config.toml"), "utf8"))?.[1] ?? "";
    expect(JSON.parse(notify)).toEqual([launcher, "service", "hook", "codex-cli"]);
  });

  test("on macOS writes an agent of launchd, and loads it", async () => {
    const { home, run, calls, releases } = await world("darwin");
    const ran = await run(["install", "--yes"], { CLAUDE_CONFIG_DIR: join(home, "none") });
    expect([ran.code, ran.errors]).toEqual([0, ""]);
    const path = join(home, "Library/LaunchAgents/local.spoor.client.plist");
    const plist = await readFile(path, "utf8");
    const escaped = home.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const words = [`${escaped}/.local/bin/spoor`, "service", "run", "--server", releases.url];
    expect(plist).toContain(words.map((word) => `    <string>${word}</string>\n`).join(""));
    expect(plist).toContain(`<key>CLAUDE_CONFIG_DIR</key>\n    <string>${escaped}/none</string>`);
    const domain = `gui/${process.getuid?.()}`;
    expect(await calls()).toEqual([
      `launchctl print ${domain}`,
      `launchctl print ${domain}/local.spoor.client`,
      `launchctl bootout ${domain}/local.spoor.client`,
      `launchctl enable ${domain}/local.spoor.client`,
      `launchctl bootstrap ${domain} ${path}`,
    ]);
  });

  test("on Windows writes a task for the user, without a window, and says how to extend the PATH", async () => {
    const { home, run, calls, releases } = await world("win32");
    await withAgents(home);
    const local = join(home, "AppData", "Local");
    const ran = await run(["install", "--yes"], { LOCALAPPDATA: local, USERNAME: "ada", USERDOMAIN: "LAPTOP" });
    expect([ran.code, ran.errors]).toEqual([0, ""]);
    const task = (await readFile(join(local, "spoor/service.xml"))).toString("utf16le");
    expect(task).toMatch(/^\uFEFF<\?xml version="1.0" encoding="UTF-16"\?>\r\n/);
    expect(task.match(/<UserId>LAPTOP\\ada<\/UserId>/g)).toHaveLength(2);
    const script = join(local, "spoor/service.cmd");
    const escaped = script.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    expect(task).toContain(`<Arguments>--headless cmd.exe /d /s /c ""${escaped}""</Arguments>`);
    const client = join(local, "spoor/client.mjs").replaceAll("%", "%%");
    expect(await readFile(script, "utf8")).toContain(`"${client}" "service" "run" "--server" "${releases.url}"\r\n`);
    expect(await readFile(join(local, "spoor/bin/spoor.cmd"), "utf8")).toContain(
      '"%node%" "%~dp0..\\client.mjs" %*\r\n',
    );
    expect(ran.output).toContain("SetEnvironmentVariable('Path'");
    expect(await calls()).toEqual([
      "schtasks /Query /FO CSV /NH",
      `schtasks /Create /TN Spoor ada /XML ${join(local, "spoor/service.xml")} /F`,
      "schtasks /Run /TN Spoor ada",
    ]);
    // A batch file is no program that others could start.
    expect(await readFile(join(home, ".codex/config.toml"), "utf8")).toMatch(
      /^notify = \[".*node", ".*client\.mjs", "service"/m,
    );
  });

  test("a second time changes nothing, and after `uninstall --yes` the home is what it was, to the byte", async () => {
    for (const platform of ["linux", "darwin", "win32"] as const) {
      const { home, run, tree, calls, forgetCalls } = await world(platform);
      await withAgents(home);
      const before = await tree();
      await run(["install", "--yes"]);
      const installed = await tree();
      expect((await run(["install", "--yes"])).output).toContain("already installed");
      expect(await tree()).toEqual(installed);
      await forgetCalls();
      const { code, errors } = await run(["uninstall", "--yes"]);
      expect([platform, code, errors]).toEqual([platform, 0, ""]);
      expect(await tree()).toEqual(before);
      expect((await calls()).length).toBeGreaterThan(1);
      expect((await run(["uninstall", "--yes"])).output).toBe("Nothing is installed.\n");
    }
  });

  test("keeps a login that was there, and `uninstall` does, too", async () => {
    const { run, tree } = await world();
    await run(["login"]);
    const before = await tree();
    expect((await run(["install", "--yes"])).output).not.toContain("Logged in");
    expect((await run(["uninstall", "--yes"])).output).toContain("The login stays");
    const after = await tree();
    expect(Object.keys(after)).toEqual(Object.keys(before));
    expect((await run(["whoami"])).code).toBe(0);
  });

  test("where nobody has logged in, `uninstall` speaks of no login", async () => {
    const { run } = await world();
    await run(["install", "--yes", "--no-login"]);
    expect((await run(["uninstall", "--yes"])).output).not.toContain("login");
  });

  test("where there is no systemd session says so and what else to do, and sends once", async () => {
    const { home, run, releases } = await world("linux", { systemctl: "echo 'Failed to connect to bus' >&2; exit 1" });
    await writeBelow(home, claudePath(1), toLines(...claudeLines(makeId(1), 1)));
    const ran = await run(["install", "--yes", "--patience", "0"]);
    expect(ran.output).toContain("There is no systemd user session here (Failed to connect to bus)");
    for (const advice of ["WSL", "container", "enable-linger", "cron"]) expect(ran.output).toContain(advice);
    expect(releases.requests).toContain("POST /api/ingest");
  });

  test("leaves a file of the user's own alone, and says so", async () => {
    const { home, run, exec } = await world();
    await writeBelow(home, ".local/bin/spoor", "#!/bin/sh\necho mine\n");
    await chmod(join(home, ".local/bin/spoor"), 0o755);
    await writeBelow(home, ".claude/settings.json", `{ // mine\n  "a": 1, }`);
    await writeBelow(home, ".codex/config.toml", 'notify = ["say"]\n');
    const ran = await run(["install", "--yes"]);
    expect(ran.code).toBe(0);
    expect(ran.errors).toContain(".local/bin/spoor exists and differs from what `install` wrote: it was not changed");
    expect(ran.errors).toContain("settings.json was not changed: it is not valid JSON");
    expect(ran.errors).toContain("config.toml was not changed: it has a notify of its own already");
    expect((await exec([join(home, ".local/bin/spoor")])).output).toBe("mine\n");
    const unit = await readFile(join(home, ".config/systemd/user/spoor.service"), "utf8");
    expect(unit).toMatch(/ExecStart="[^"]*node" "[^"]*client\.mjs" "service" "run"/);
    await run(["uninstall", "--yes"]);
    expect((await exec([join(home, ".local/bin/spoor")])).output).toBe("mine\n");
    expect(await readFile(join(home, ".codex/config.toml"), "utf8")).toBe('notify = ["say"]\n');
  });

  test("follows a link to settings that are kept elsewhere, and leaves it one", async () => {
    const { home, run } = await world();
    await writeBelow(home, "dotfiles/claude.json", settings);
    await mkdir(join(home, ".claude"));
    await symlink("../dotfiles/claude.json", join(home, ".claude/settings.json"));
    await run(["install", "--yes"]);
    expect(await readFile(join(home, "dotfiles/claude.json"), "utf8")).toContain("SessionEnd");
    await run(["uninstall", "--yes"]);
    expect(await readFile(join(home, "dotfiles/claude.json"), "utf8")).toBe(settings);
    expect((await stat(join(home, ".claude/settings.json"))).isFile()).toBe(true);
  });

  test("fails where the service can't be started, and says what to do", async () => {
    const { run } = await world("linux", { systemctl: 'case "$*" in *enable*) echo "Access denied"; exit 1;; esac' });
    const { code, errors } = await run(["install", "--yes"]);
    expect([code, errors]).toEqual([1, expect.stringContaining("enable --now spoor.service: Access denied")]);
    expect(errors).toContain("keep `spoor watch` running");
  });
});

describe("install", () => {
  test("in a terminal asks about each step, writes what is agreed to, and ends with the last answer", async () => {
    const { home, file, env, tree } = await world();
    await withAgents(home);
    // util-linux' `script` gives it a terminal; the shell that it calls reads the paths from variables.
    const command = '"$NODE" "$CLIENT" install --no-login';
    const variables = { NODE: process.execPath, CLIENT: file, SHELL: "/bin/sh", NODE_ENV: "production" as const };
    const child = spawn("script", ["-qec", command, "/dev/null"], { cwd: home, env: { ...env, ...variables } });
    let [output, answered] = ["", 0];
    const answers = ["", "n", "y", "yes"];
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if ((output.match(/\[Y\/n\] /g)?.length ?? 0) > answered) child.stdin.write(`${answers[answered++]}\n`);
    });
    const [code] = (await once(child, "close")) as [number];
    expect([code, answered]).toEqual([0, 4]);
    const paths = await tree();
    expect(paths[".claude/settings.json"]).toBe(Buffer.from(settings).toString("latin1"));
    expect(paths[".codex/config.toml"]).toMatch(/^notify = /m);
    for (const path of [".local/bin/spoor", ".config/systemd/user/spoor.service"]) expect(paths).toHaveProperty([path]);
  });

  test("without a terminal writes nothing, and --dry-run shows every file and writes none", async () => {
    const { home, run, tree, calls } = await world();
    await withAgents(home);
    const before = await tree();
    const { code, errors } = await run(["install"]);
    expect([code, errors]).toEqual([2, expect.stringContaining("--yes")]);
    const dry = await run(["install", "--dry-run"]);
    expect([dry.code, dry.errors]).toEqual([0, ""]);
    for (const shown of ["client.mjs", "#!/bin/sh", "SessionEnd", "notify = [", "ExecStart=", "Nothing was written"]) {
      expect(dry.output).toContain(shown);
    }
    expect(await tree()).toEqual(before);
    expect(await calls()).toEqual(["systemctl --user show-environment"]);
  });

  test("--no-service, --no-hooks and --no-login leave these out", async () => {
    const { home, run, calls, tree } = await world();
    await withAgents(home);
    expect((await run(["install", "--yes", "--no-service", "--no-hooks", "--no-login"])).code).toBe(0);
    expect(await calls()).toEqual([]);
    const after = Object.keys(await tree()).filter((path) => !path.startsWith(".c"));
    expect(after).toEqual([
      ".local",
      ".local/bin",
      ".local/bin/spoor",
      ".local/share",
      ".local/share/spoor",
      ".local/share/spoor/client.mjs",
      ".local/share/spoor/install.json",
      "spoor.mjs",
    ]);
  });
});

describe("uninstall", () => {
  test("removes what an update has replaced, and leaves what the user has changed, and lists it", async () => {
    const { home, run, exec, releases, tree } = await world();
    await withAgents(home);
    await run(["install", "--yes"]);
    releases.deliver(clients.newer, "1.3.0");
    const launcher = join(home, ".local/bin/spoor");
    expect((await exec([launcher, "update"])).output).toContain("Updated from version 1.2.0 to 1.3.0");
    const unit = join(home, ".config/systemd/user/spoor.service");
    await writeFile(unit, `${await readFile(unit, "utf8")}# mine\n`);
    // As Claude Code writes them after a setting was changed.
    const written = JSON.parse(await readFile(join(home, ".claude/settings.json"), "utf8"));
    await writeFile(join(home, ".claude/settings.json"), JSON.stringify({ ...written, model: "sonnet" }, null, 2));
    const { code, errors } = await exec([launcher, "uninstall", "--yes"]);
    expect([code, errors]).toEqual([0, `! ${unit} was changed since, so it was kept.\n`]);
    const { hooks: _, ...rest } = written;
    expect(JSON.parse(await readFile(join(home, ".claude/settings.json"), "utf8"))).toEqual({
      ...rest,
      model: "sonnet",
    });
    expect(await readFile(join(home, ".codex/config.toml"), "utf8")).toBe(config);
    expect(Object.keys(await tree()).filter((path) => /local|state/.test(path))).toEqual([]);
  });
});

test("the names in these tests are hostile to every format", () => {
  for (const character of `'$%&<> é`) expect(oddName).toContain(character);
});
