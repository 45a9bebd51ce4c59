// Tries a release as a stranger would: from the first page to a session that is read back, on each Node that it is for.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "#lib/db/embedded/ports";
import { wrote } from "../../support/client.ts";
import { getCookies, getFields, sendForm } from "../../support/form.ts";
import { installNode, Stranger } from "./stranger.ts";

const maxFirstPageSeconds = 20;
const maxMegabytes = 300;
const sample = "tests/fixtures/sessions/01-flaky-timer-test.json";
const account = { name: "Ada", email: "ada@example.org", password: "correct horse battery" };

type Say = (line: string) => void;
type Check = (what: string, holds: boolean) => void;
type Packages = { server: string; client: string; version: string };

/** The packages of a release's folder. */
async function packagesIn(folder: string): Promise<Packages> {
  const names = await readdir(folder);
  const find = (name: string) => names.find((one) => one.startsWith(`${name}-`) && one.endsWith(".tgz")) ?? "";
  const [server, client] = [find("spoor-server"), find("spoor-client")];
  if (!server || !client) throw new Error(`${folder} has no packages: npm run release`);
  const version = server.slice("spoor-server-".length, -".tgz".length);
  return { server: resolve(folder, server), client: resolve(folder, client), version };
}

/**
 * Tries the packages of a folder on Node 22 and 24, and on Node 20, which they refuse.
 *
 * @throws at the first thing that does not hold
 */
export async function tryRelease(folder: string, say: Say): Promise<void> {
  const packages = await packagesIn(folder);
  await expectComponents(folder, packages, say);
  const nodes = await mkdtemp(join(tmpdir(), "spoor-nodes-"));
  try {
    for (const major of ["20", "22", "24"]) {
      const node = await installNode(major, nodes);
      const stranger = await Stranger.arrive(node);
      const check: Check = (what, holds) => {
        if (!holds) throw new Error(`✗ Node ${major}: ${what}`);
        say(`✓ Node ${major}: ${what}`);
      };
      try {
        if (major === "20") await expectRefusal(stranger, packages, check);
        else await tryOn(stranger, packages, check);
      } finally {
        await stranger.leave();
      }
    }
  } finally {
    await rm(nodes, { recursive: true, force: true });
  }
}

/** Whether the list of components names what is inside, and nothing of development. */
async function expectComponents(folder: string, { version }: Packages, say: Say): Promise<void> {
  const { components } = JSON.parse(await readFile(join(folder, `spoor-server-${version}.cdx.json`), "utf8"));
  const names = new Set(components.map((one: { name: string }) => one.name));
  const { dependencies } = JSON.parse(await readFile("package.json", "utf8"));
  // The package runs on its user's Node.
  const missing = Object.keys(dependencies).filter((name) => !names.has(name) && !/^node(-|$)/.test(name));
  if (missing.length > 0) throw new Error(`✗ not listed as components: ${missing}`);
  const extra = ["vitest", "typescript", "playwright", "rolldown"].filter((name) => names.has(name));
  if (extra.length > 0) throw new Error(`✗ listed as components, but only built or tested with: ${extra}`);
  say(`✓ ${names.size} components are listed`);
}

async function expectRefusal(stranger: Stranger, { server }: Packages, check: Check): Promise<void> {
  const { code, errors } = await stranger.npx(server, "server.tgz", []);
  const own = errors.split("\n").filter((line) => line && !line.startsWith("npm "));
  const isOneLine = own.length === 1 && /^Spoor needs Node 22 .* or Node 24/.test(own[0] ?? "");
  check(`it says in one line which Node it needs: ${own[0]}`, code === 1 && isOneLine);
}

async function tryOn(stranger: Stranger, { server, client, version }: Packages, check: Check): Promise<void> {
  const startedAt = Date.now();
  const shown = await stranger.npx(server, "server.tgz", ["--version"]);
  check(`npx installs it (${seconds(startedAt)})`, shown.code === 0 && shown.output.trim() === version);
  const megabytes = Math.ceil((await stranger.sizeOf("spoor-server")) / 1e6);
  check(`it takes ${megabytes} MB of the disk, at most ${maxMegabytes}`, megabytes <= maxMegabytes);
  const file = await stranger.installed("spoor-server", "spoor-server.mjs");
  const licenses = await readFile(await stranger.installed("spoor-server", "LICENSES.txt"), "utf8");
  check("it has the licenses of its components", /^next \d/m.test(licenses) && /\breact \d/.test(licenses));
  await tryCommands(stranger, file, check);
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const first = await serve(stranger, file, port);
  check(`its first page comes after ${first.seconds} s`, first.seconds <= maxFirstPageSeconds);
  check("/api/ready says yes", await isReady(url));
  await trySessions(stranger, { file, client, version, url, setup: first.setup }, check);
  const second = await stranger.run([file], { PORT: port });
  const said = second.output + second.errors;
  check("a port that is in use is named", second.code === 1 && said.includes(`Spoor can't listen on port ${port}`));
  await stop(first.child, check);
  const again = await serve(stranger, file, port);
  const listed = await stranger.run([file, "admin", "list"]);
  check(`what was stored is there after the next start (${again.seconds} s)`, listed.output.includes(account.email));
  await stop(again.child, check);
}

const seconds = (since: number) => `${((Date.now() - since) / 1000).toFixed(1)} s`;
const isReady = async (url: string) => (await fetch(`${url}/api/ready`)).status === 200;

async function tryCommands(stranger: Stranger, file: string, check: Check): Promise<void> {
  const help = await stranger.run([file, "--help"]);
  check("--help lists the commands", help.code === 0 && /\n {2}worker +start a worker/.test(help.output));
  const unknown = await stranger.run([file, "serve"]);
  const isOneLine = unknown.errors.trim().split("\n").length === 1 && unknown.output === "";
  check(`an unknown command ends with 2: ${unknown.errors.trim()}`, unknown.code === 2 && isOneLine);
  for (const name of ["admin", "move", "distribute"]) {
    const { code, output } = await stranger.run([file, name, "--help"]);
    check(`${name} --help names the command`, code === 0 && output.startsWith(`Usage: spoor-server ${name}`));
  }
}

/** Starts the server and asks for its first page. */
async function serve(stranger: Stranger, file: string, port: string) {
  const startedAt = Date.now();
  const child = stranger.start([file], { PORT: port });
  const setup = wrote(child, /http\S+\/setup\?token=\S+/, 60).then(
    ([link]) => link,
    () => "",
  );
  for (;;) {
    const page = await fetch(`http://localhost:${port}/sign-in`).catch(() => undefined);
    if (page?.ok && (await page.text()).includes("</html>")) break;
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    if (Date.now() - startedAt > 60_000) throw new Error("no page within 60 s");
    await sleep(50);
  }
  return { child, setup, seconds: Math.round((Date.now() - startedAt) / 100) / 10 };
}

async function stop(child: ChildProcess, check: Check): Promise<void> {
  const askedAt = Date.now();
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const [code] = await exited;
  // Windows has no signals: there a process ends at once, and its children notice.
  check(`it stops when it is told to (${seconds(askedAt)})`, code === 0 || process.platform === "win32");
}

type Place = { file: string; client: string; version: string; url: string; setup: Promise<string> };

/** The first account, a client's login, an upload, and what is read back. */
async function trySessions(stranger: Stranger, place: Place, check: Check): Promise<void> {
  const { url } = place;
  const Cookie = await signUp(url, await place.setup);
  const listed = await stranger.run([place.file, "admin", "list"]);
  check("the link that it printed makes the first account", listed.output.includes(`owner   ${account.email}`));
  const shown = await stranger.npx(place.client, "client.tgz", ["--version"]);
  check("npx runs the client", shown.code === 0 && shown.output.trim() === place.version);
  const spoor = await stranger.installed("spoor-client", "spoor.mjs");
  const login = stranger.start([spoor, "login", "--server", url, "--no-browser"]);
  const exited = once(login, "exit");
  const [page] = await wrote(login, /http\S+\/device\S+/);
  const fields = getFields(await (await fetch(page, { headers: { Cookie } })).text(), "approve");
  await sendForm({ url }, page.slice(url.length), fields, { Cookie });
  check("the client logs in", (await exited)[0] === 0);
  const inbox = join(stranger.home, ".local/share/spoor/jsonl");
  await mkdir(inbox, { recursive: true });
  const session = JSON.parse(await readFile(sample, "utf8"));
  await writeFile(join(inbox, "sample.jsonl"), `${JSON.stringify(session)}\n`);
  const pushed = await stranger.run([spoor, "push", "--yes"]);
  check(`it sends a session${pushed.code === 0 ? "" : `: ${pushed.output}${pushed.errors}`}`, pushed.code === 0);
  const { accounts } = JSON.parse(await readFile(join(stranger.home, ".config/spoor/settings.json"), "utf8"));
  const headers = { Authorization: `Bearer ${accounts[url].token}` };
  const { traces = [], detail } = await (await fetch(`${url}/api/traces`, { headers })).json();
  check(`the API lists sessions${detail ? `: ${detail}` : ""}`, detail === undefined);
  const [found] = traces;
  check("the API lists it", traces.length === 1 && found.title === session.title);
  const read = await fetch(`${url}/api/traces/${found.id}/messages`, { headers });
  check("and returns its messages", (await read.json()).messages.length === session.messages.length);
  const masked = await fetch(`${url}/api/traces/${found.id}/export.md?masked=all`, { headers });
  check("and exports it with secrets hidden", masked.status === 200 && (await masked.text()).includes(session.title));
  const query = new URLSearchParams({ q: `"${session.title}"`, order: "best" });
  const search = await fetch(`${url}/traces?${query}`, { headers: { Cookie } });
  check("a search for a phrase has a page", search.status === 200);
  const reader = await fetch(`${url}/traces/${found.id}`, { headers: { Cookie } });
  check("the browser reads it", reader.status === 200 && (await reader.text()).includes(session.title));
}

/** Makes the first account on its page. @returns its cookies */
async function signUp(url: string, link: string): Promise<string> {
  const fields = getFields(await (await fetch(link)).text());
  return getCookies(await sendForm({ url }, link.slice(url.length), { ...fields, ...account }));
}
