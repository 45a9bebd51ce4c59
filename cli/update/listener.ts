import { readFile } from "node:fs/promises";

/** The state of a socket that listens, in Linux' tables of them (proc_net(5)). */
const listening = "0A";
const tables = ["/proc/net/tcp", "/proc/net/tcp6"];

/** The users whose sockets listen on a port. @param text of such a table */
export function parseListeners(text: string, port: number): number[] {
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/));
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return rows
    .filter(([, local, , state]) => state === listening && local?.endsWith(ending))
    .map((row) => Number(row[7]));
}

/**
 * Whether what answers at a server's address on this machine is of this user or of the system: while the server is down, any other
 * account here can take its port. Systems but Linux don't tell.
 */
export async function isOwnListener(server: string, uid = process.getuid?.()): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const texts = await Promise.all(tables.map((path) => readFile(path, "utf8").catch(() => "")));
  const users = texts.flatMap((text) => parseListeners(text, Number(new URL(server).port || 80)));
  return users.length > 0 && users.every((user) => user === 0 || user === uid);
}
