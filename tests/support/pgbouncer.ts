import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "#lib/db/embedded/ports";

const program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"].find(existsSync);

/** True if this machine has PgBouncer (Debian's package `pgbouncer`). */
export const hasPgbouncer = program !== undefined;

/**
 * Starts PgBouncer in transaction mode in front of a server.
 *
 * @param serverUrl any database of the server; its account is used for all
 * @param settings additional settings
 * @returns `via` changes a database's URL to PgBouncer
 */
export async function startPgbouncer(serverUrl: string, settings: Record<string, string | number> = {}) {
  const { hostname, port, username, password } = new URL(serverUrl);
  const folder = await mkdtemp(join(tmpdir(), "spoor-pgbouncer-"));
  const listenPort = await freePort();
  const all = {
    ...{ listen_addr: "127.0.0.1", listen_port: listenPort, unix_socket_dir: "", auth_type: "any" },
    ...{ pool_mode: "transaction", max_client_conn: 200, default_pool_size: 20 },
    ...settings,
  };
  const account = `user=${username}${password ? ` password=${decodeURIComponent(password)}` : ""}`;
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, "pgbouncer.ini");
  await writeFile(
    file,
    `[databases]\n* = host=${hostname} port=${port} ${account}\n[pgbouncer]\n${lines.join("\n")}\n`,
  );
  await chmod(folder, 0o755); // as root it switches to another account
  const asOther = process.getuid?.() === 0 ? ["--user=nobody"] : [];
  const child = spawn(program ?? "", ["--quiet", ...asOther, file], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => {
    said += text;
  });
  await waitForPort(child, listenPort, () => said);
  return {
    via: (url: string) => {
      const changed = new URL(url);
      changed.hostname = "127.0.0.1";
      changed.port = String(listenPort);
      changed.searchParams.delete("require_auth"); // PgBouncer requires no password
      return changed.href;
    },
    stop: async () => {
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function waitForPort(child: ChildProcess, port: number, said: () => string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (child.exitCode !== null) break;
    const opened = await new Promise<boolean>((resolve) => {
      const socket = createConnection(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (opened) return;
    await sleep(25);
  }
  child.kill("SIGKILL");
  throw new Error(`PgBouncer did not start: ${said()}`);
}
