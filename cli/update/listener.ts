import { readFile } from "node:fs/promises";

/** A listening socket in /proc/net/tcp (proc_net(5)). */
const listening = "0A";
const tables = ["/proc/net/tcp", "/proc/net/tcp6"];

/** @param text of /proc/net/tcp @returns the users whose sockets listen on the port */
export function parseListeners(text: string, port: number): number[] {
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/));
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return rows
    .filter(([, local, , state]) => state === listening && local?.endsWith(ending))
    .map((row) => Number(row[7]));
}

/**
 * While a local server is down, another account can take its port, so this checks that the listener is this user's or
 * the system's. Only Linux tells.
 */
export async function isOwnListener(server: string, uid = process.getuid?.()): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const texts = await Promise.all(tables.map((path) => readFile(path, "utf8").catch(() => "")));
  const users = texts.flatMap((text) => parseListeners(text, Number(new URL(server).port || 80)));
  return users.length > 0 && users.every((user) => user === 0 || user === uid);
}
