import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { sha256 } from "#lib/core/digest";
import { clientFile } from "#server/build/stamps";
import { ended } from "../support/client.ts";
import { runFile } from "./in-process.ts";

/** The client as it is built, as another version of itself, and for a system that need not be this one. */
export async function bundle(version: string, platform: NodeJS.Platform = "linux"): Promise<string> {
  const own = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
  const text = await readFile(clientFile, "utf8");
  return text
    .replace(`// spoor ${own.version}:`, `// spoor ${version}:`)
    .replaceAll(JSON.stringify(own.version), JSON.stringify(version))
    .replaceAll("process.platform", JSON.stringify(platform));
}

/** A client in a hurry: the built one has the paces of every day. @param paces in milliseconds, by their names */
export function hurried(client: string, paces: Record<string, number>): string {
  let text = client;
  for (const [name, milliseconds] of Object.entries(paces)) {
    const hasty = text
      .replace(new RegExp(`\\b${name}: [^,\\n]+`), `${name}: ${milliseconds}`)
      .replace(new RegExp(`\\bconst ${name} = [^;\\n]+`), `const ${name} = ${milliseconds}`);
    if (hasty === text) throw new Error(`the client has no ${name}`);
    text = hasty;
  }
  return text;
}

/** A server that delivers a client, logs machines in at once, and takes nothing else. Its fields may be changed at any time. */
export async function startReleases(text: string, version: string) {
  const state = {
    text,
    version,
    /** What `/api/limits` says of the client, where that is not the truth. */
    release: undefined as object | null | undefined,
    /** The status of everything that needs a token. */
    status: 200,
    redirect: "",
    requests: [] as string[],
    tokens: [] as string[],
    url: "",
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    state.requests.push(`${request.method} ${path}`);
    if (request.headers.authorization) state.tokens.push(path);
    const send = (body: object, status = 200) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    const delivered = state.text.replaceAll("@SPOOR_SERVER@", state.url);
    if (path === "/spoor.mjs") {
      if (state.redirect) return response.writeHead(302, { Location: state.redirect }).end();
      const tag = `"${sha256(delivered).toString("base64url").slice(0, 22)}"`;
      if (request.headers["if-none-match"] === tag) return response.writeHead(304).end();
      return response.writeHead(200, { ETag: tag }).end(delivered);
    }
    if (path === "/api/limits") {
      const client = {
        version: state.version,
        sha256: sha256(delivered).toString("hex"),
        bytes: Buffer.byteLength(delivered),
      };
      return send({ ok: true, ingest: {}, client: state.release === undefined ? client : state.release });
    }
    const account = {
      userId: "u1",
      user: { name: "Ada", email: "ada@example.org" },
      machine: "m",
      expiresAt: "2099-01-01T00:00:00.000Z",
    };
    if (path === "/api/cli/device/start") {
      const page = `${state.url}/device`;
      return send({
        ok: true,
        deviceCode: "device-code-of-it",
        userCode: "WDJB-MJHT",
        verificationUri: page,
        interval: 0.05,
      });
    }
    if (path === "/api/cli/device/poll") {
      return send({ ok: true, status: "approved", token: `spoor_${"a".repeat(36)}`, ...account });
    }
    if (state.status !== 200) return send({ ok: false, error: "invalid_token", detail: "No." }, state.status);
    if (path === "/api/cli/session") return send({ ok: true, ...account });
    return send({ ok: true });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(state, {
    deliver: (next: string, nextVersion: string) => Object.assign(state, { text: next, version: nextVersion }),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

/** Names that a shell, a unit, XML and a batch file each read in their own way. */
export const oddName = `a b'c $HOME %h & <d> é`;

/**
 * A home with a client in it that a server delivered, and programs of the system that only note how they are called.
 *
 * `run` runs its client in the test's process, `start` and `exec` start a process.
 *
 * @param tools shell scripts by the names of the programs; `exit 0` for those that are not named
 * @param platform of `run`; other processes have the one that the client was bundled for
 */
export async function makeMachine(
  client: string,
  tools: Record<string, string> = {},
  platform: NodeJS.Platform = "linux",
) {
  const root = await mkdtemp(join(tmpdir(), "spoor-machine-"));
  // Processes left by a test may still write for a moment.
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  const [home, bin, calls] = [join(root, oddName), join(root, "bin"), join(root, "calls")];
  await mkdir(home);
  await mkdir(bin);
  const all = ["systemctl", "launchctl", "schtasks", "powershell", "osascript", "notify-send"];
  for (const name of all) {
    const text = `#!/bin/sh\n{ printf %s ${name}; for word; do printf '\\t%s' "$word"; done; echo; } >> '${calls}'\n${tools[name] ?? "exit 0"}\n`;
    await writeFile(join(bin, name), text);
    await chmod(join(bin, name), 0o755);
  }
  const file = join(home, "spoor.mjs");
  await writeFile(file, client);
  const env: Record<string, string> = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, LANG: "C.UTF-8" };
  const start = (command: string[], more: Record<string, string> = {}) =>
    spawn(command[0] ?? "", command.slice(1), {
      cwd: home,
      env: { ...env, ...more } as NodeJS.ProcessEnv,
      stdio: ["ignore", "pipe", "pipe"],
    });
  return {
    home,
    bin,
    env,
    file,
    start,
    run: (words: string[], more?: Record<string, string>) => runFile(file, words, home, { ...env, ...more }, platform),
    exec: (command: string[], more?: Record<string, string>) => ended(start(command, more)),
    /** How the programs were called, each as its words joined by blanks. */
    calls: async () =>
      (await readFile(calls, "utf8").catch(() => "")).replaceAll("\t", " ").split("\n").filter(Boolean),
    forgetCalls: () => rm(calls, { force: true }),
    tree: () => readTree(home),
  };
}

/** Every path below a folder with its content. */
async function readTree(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry): Promise<[string, string]> => {
      const path = join(entry.parentPath, entry.name);
      const content = entry.isDirectory()
        ? "folder"
        : entry.isSymbolicLink()
          ? await readlink(path)
          : await readFile(path, "latin1");
      return [path.slice(folder.length + 1), content];
    }),
  );
  return Object.fromEntries(found.sort());
}
