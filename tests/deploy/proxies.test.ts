// The examples of `deploy` in front of the built server, on a port of their own: nginx and Caddy as Debian packages them.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { freePort } from "#lib/db/embedded/ports";
import { readForm, sendForm } from "../support/form.ts";
import { makeUser, owner, provideServer, type Server } from "../support/server.ts";

const publicPort = await freePort();
const address = `https://localhost:${publicPort}`;
const server = await provideServer({
  worker: false,
  environment: { BASE_URL: address, TRUSTED_PROXIES: "127.0.0.1,::1" },
});
const upstream = new URL(server.url).port;
const folder = await mkdtemp(join(tmpdir(), "spoor-proxies-"));

beforeAll(async () => {
  setEnv({ NODE_TLS_REJECT_UNAUTHORIZED: "0" });
  await makeUser();
  const subject = ["-subj", "/CN=localhost", "-days", "1"];
  const files = ["-keyout", join(folder, "privkey.pem"), "-out", join(folder, "fullchain.pem")];
  await promisify(execFile)("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, ...files]);
  await chmod(folder, 0o755);
});
afterAll(async () => {
  setEnv({ NODE_TLS_REJECT_UNAUTHORIZED: "1" });
  await rm(folder, { recursive: true });
});

/** Replaces a line's part that is this machine's; what is not there has to be looked at. */
function adapt(text: string, changes: [from: string, to: string][]): string {
  for (const [from] of changes) if (!text.includes(from)) throw new Error(`the example has no ${from}`);
  return changes.reduce((done, [from, to]) => done.replaceAll(from, to), text);
}

async function nginx(more: [string, string][] = []): Promise<ChildProcess> {
  const example = adapt(await readFile("deploy/nginx.conf", "utf8"), [
    ["127.0.0.1:3000", `127.0.0.1:${upstream}`],
    ["listen 443 ssl", `listen ${publicPort} ssl`],
    ["listen 80;", `listen 127.0.0.1:${await freePort()};`],
    ["server_name spoor.example.org", "server_name localhost"],
    ["/etc/ssl/spoor", folder],
    ...more,
  ]);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const http = `access_log off; ${temporary.join(" ")} ${example}`;
  const main = `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr; events {} http { ${http} }`;
  const file = join(folder, "nginx.conf");
  await writeFile(file, main);
  return spawn("nginx", ["-e", "stderr", "-c", file], { stdio: "inherit" });
}

async function caddy(): Promise<ChildProcess> {
  const example = adapt(await readFile("deploy/Caddyfile", "utf8"), [
    ["dynamic a web 3000 {\n\t\t\trefresh 5s\n\t\t}", `to 127.0.0.1:${upstream}`],
  ]);
  const file = join(folder, "Caddyfile");
  const ports = `http_port ${await freePort()}`;
  await writeFile(
    file,
    `{\n\tadmin off\n\tskip_install_trust\n\t${ports}\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n${example}`,
  );
  const env = { ...process.env, SITE: `localhost:${publicPort}`, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  return spawn("caddy", ["run", "--config", file, "--adapter", "caddyfile"], { stdio: "inherit", env });
}

async function check(proxy: ChildProcess): Promise<void> {
  try {
    for (;;) {
      if (proxy.exitCode !== null) throw new Error("the proxy ended");
      const up = await fetch(`${address}/api/health`).catch(() => undefined);
      if (up?.ok) break;
      await sleep(100);
    }
    await walkThrough({ url: address, stop: async () => {} });
  } finally {
    proxy.kill("SIGTERM");
    if (proxy.exitCode === null) await once(proxy, "exit");
  }
}

/** A browser's first steps, and what a client or another site may say of itself. */
async function walkThrough(site: Server): Promise<void> {
  const forged = { "X-Forwarded-For": "203.0.113.1" };
  const first = await fetch(`${site.url}/traces`, { redirect: "manual" });
  expect(new URL(first.headers.get("location") ?? "", site.url).href).toBe(`${site.url}/sign-in?next=%2Ftraces`);
  const fields = { ...(await readForm(site, "/sign-in")), email: owner.email, password: owner.password };
  const signedIn = await sendForm(site, "/sign-in", fields, forged);
  expect([signedIn.status, signedIn.headers.getSetCookie().join()]).toEqual([303, expect.stringContaining("Secure")]);
  expect(new URL(signedIn.headers.get("location") ?? "", site.url).origin).toBe(site.url);
  const { rows } = await pool().query("select address from audit_event where action = 'signed_in' order by id desc");
  expect(["127.0.0.1", "::1"]).toContain(rows[0]?.address);
  for (const origin of ["https://localhost", `https://localhost:${Number(upstream)}`, "https://example.org"]) {
    const { status, headers } = await sendForm(site, "/sign-in", fields, { Origin: origin });
    expect([origin, status === 303, headers.getSetCookie()]).toEqual([origin, false, []]);
  }
  const wrong = { method: "POST", headers: { "Content-Type": "application/json", Origin: site.url }, body: "{}" };
  expect((await fetch(`${site.url}/api/auth/sign-in/email`, wrong)).status).toBe(400);
  const client = await fetch(`${site.url}/spoor.mjs`);
  expect(await client.text()).toContain(`"${site.url}"`);
  const again = await fetch(`${site.url}/spoor.mjs`, {
    headers: { "If-None-Match": client.headers.get("etag") ?? "" },
  });
  expect(again.status).toBe(304);
}

const has = (name: string) => ["/usr/sbin", "/usr/bin", "/usr/local/bin"].some((bin) => existsSync(join(bin, name)));

test.skipIf(!has("nginx"))("behind nginx on a port of its own, forms are taken and forged ones are not", async () => {
  await check(await nginx());
});

test.skipIf(!has("nginx"))("behind an nginx that leaves the port out of the Host, forms are taken", async () => {
  await check(await nginx([["Host $http_host", "Host $host"]]));
});

test.skipIf(!has("caddy"))("behind Caddy on a port of its own, forms are taken and forged ones are not", async () => {
  await check(await caddy());
});
