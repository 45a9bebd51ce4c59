// `npm run test:image`: builds the Dockerfile's image in plain folders, runs it as an engine would (another account, nothing
// writable, nothing of this machine's environment), and exchanges pages with a host that has built the same sources by itself.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { freePort } from "#lib/db/embedded/ports";
import { buildIfNeeded } from "#server/build/build";
import { getCookies, getFields, sendForm } from "../support/form.ts";
import { buildImage } from "./dockerfile.ts";

/** debian:bookworm-slim, by its own manifest: what the last stage begins with. */
const baseMegabytes = 75;
const maxMegabytes = 350;
const drainSeconds = 15;

const say = (line: string) => process.stdout.write(`${line}\n`);
const check = (what: string, isTrue: boolean) => {
  if (!isTrue) throw new Error(`✗ ${what}`);
  say(`✓ ${what}`);
};

const folder = await mkdtemp(join(tmpdir(), "spoor-image-"));
await chmod(folder, 0o755); // the image's account has to reach it
const database = await startEmbedded(join(folder, "database"), { tcp: true });
const running = new Set<ChildProcess>();
const setupToken = "a set-up token for the image";
const port = { image: await freePort(), host: await freePort() };
const BASE_URL = `http://localhost:${port.image}`;
const settings = {
  DATABASE_URL: database.url,
  AUTH_SECRET: "a secret for this test only, of 32 characters",
  SETUP_TOKEN: setupToken,
  BASE_URL,
  LOG_LEVEL: "warn",
};

type Account = { uid?: number; gid?: number };

function start(program: string, words: string[], cwd: string, env: Record<string, string>, account: Account = {}) {
  const options = { cwd, env: { NODE_ENV: "production", ...env } as const, ...account };
  const child: ChildProcess = spawn(program, words, { ...options, stdio: ["ignore", "inherit", "inherit"] });
  running.add(child);
  const ended = once(child, "exit").then(([code]) => code as number | null);
  return { child, ended };
}

async function ready(url: string): Promise<void> {
  const deadline = Date.now() + 90_000;
  while (!(await fetch(`${url}/api/ready`).catch(() => undefined))?.ok) {
    if (Date.now() > deadline) throw new Error(`${url} is not ready`);
    await sleep(100);
  }
}

const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "Content-Type": "application/json", Origin: BASE_URL, ...headers },
  body: JSON.stringify(body),
});

/** The cookies of the first account, which is made on its page. */
async function signUp(): Promise<string> {
  const account = { name: "Ada", email: "ada@example.org", password: "correct horse battery" };
  const path = `/setup?token=${encodeURIComponent(setupToken)}`;
  const fields = getFields(await (await fetch(BASE_URL + path)).text());
  const response = await sendForm({ url: BASE_URL }, path, { ...fields, ...account });
  const cookie = getCookies(response);
  check("the first account is made on its page", cookie.includes("authlib.session_token"));
  return cookie;
}

/** Approves a login on a page of one host whose form is sent to the other. @returns the token */
async function logIn(pageOf: string, formTo: string, Cookie: string): Promise<string> {
  const started = await (await fetch(`${BASE_URL}/api/cli/device/start`, json({ machine: "m" }))).json();
  const path = started.verificationUriComplete.slice(BASE_URL.length);
  const page = await (await fetch(pageOf + path, { headers: { Cookie } })).text();
  const headers = {
    Cookie,
    Origin: BASE_URL,
    Host: new URL(BASE_URL).host,
    "X-Forwarded-Host": new URL(BASE_URL).host,
  };
  await sendForm({ url: formTo }, path, getFields(page, "approve"), headers);
  const polled = await fetch(`${BASE_URL}/api/cli/device/poll?deviceCode=${started.deviceCode}`);
  return polled.status === 200 ? (await polled.json()).token : "";
}

async function upload(token: string): Promise<string> {
  const headers = { Authorization: `Bearer ${token}` };
  const messages = Array.from({ length: 2000 }, (_, position) => ({
    position,
    content: `message ${position} `.repeat(30),
  }));
  const answer = await fetch(`${BASE_URL}/api/ingest`, json({ traces: [{ sourceId: "s", messages }] }, headers));
  const { jobId } = await answer.json();
  for (let tries = 0; tries < 300; tries += 1) {
    const job = await (await fetch(`${BASE_URL}/api/ingest/${jobId}`, { headers })).json();
    if (job.status === "succeeded" || job.status === "failed") return job.status;
    await sleep(100);
  }
  return "not processed";
}

try {
  const image = await buildImage("Dockerfile", folder, say);
  const megabytes = Math.round(
    Number(execFileSync("du", ["-sb", image.root], { encoding: "utf8" }).split("\t")[0]) / 1e6,
  );
  say(`The image: ${megabytes} MB, with its base ${megabytes + baseMegabytes} MB.`);
  check(`it has at most ${maxMegabytes} MB`, megabytes + baseMegabytes <= maxMegabytes);
  const [uid, gid] = (image.user ?? "").split(":").map(Number);
  check("it does not run as root", Boolean(uid));
  // What belongs to root is read-only to the image's account; without root the permissions make it so.
  execFileSync("chmod", ["-R", "a-w,a+rX", image.root]);
  const account = process.getuid?.() === 0 && uid && gid ? { uid, gid } : {};
  const cwd = join(image.root, image.workdir);
  const [node = "", ...entry] = image.entrypoint;
  const program = join(image.root, "usr/local/bin", node);
  const env = { ...image.environment, ...settings, HOST: "127.0.0.1", PORT: String(port.image) };
  const command = (...words: string[]) => start(program, [...entry, ...words], cwd, env, account);

  check("migrate ends with 0", (await command("migrate").ended) === 0);
  const [web, worker] = [command(...image.command), command("worker")];
  await ready(BASE_URL);
  const health = start(program, image.healthcheck.slice(1), cwd, env, account);
  check("the health check passes", (await health.ended) === 0);

  await buildIfNeeded(say);
  const ownEnv = { ...settings, PATH: process.env.PATH ?? "", HOST: "127.0.0.1", PORT: String(port.host) };
  const host = start(process.execPath, ["dist/server/start.mjs", "web"], process.cwd(), ownEnv);
  const hostUrl = `http://localhost:${port.host}`;
  await ready(hostUrl);
  const cookie = await signUp();
  const listed = start(program, ["dist/server/admin.mjs", "list"], cwd, env, account);
  check("the image's admin command works", (await listed.ended) === 0);
  const token = await logIn(BASE_URL, hostUrl, cookie);
  check("a login approved on the image's page is taken by a host that built by itself", token !== "");
  check("and the other way round", (await logIn(hostUrl, BASE_URL, cookie)) !== "");
  check("an upload is processed", (await upload(token)) === "succeeded");

  for (const [name, { child, ended }] of Object.entries({ web, worker, host })) {
    const askedAt = Date.now();
    child.kill("SIGTERM");
    const code = await ended;
    check(
      `SIGTERM ends the ${name} with 0 within ${drainSeconds} s`,
      code === 0 && Date.now() - askedAt < drainSeconds * 1000,
    );
  }
} finally {
  for (const child of running) if (child.exitCode === null) child.kill("SIGKILL");
  await database.stop();
  execFileSync("chmod", ["-R", "u+w", folder]);
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);
