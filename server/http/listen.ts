import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { Env } from "#lib/core/env";

function isLocal(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(?:.+\.)?localhost$|^\[::1\]$|^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Undefined means all addresses. Nobody else reaches a server that is used as localhost. */
export function chooseAddresses({ HOST, BASE_URL }: Pick<Env, "HOST" | "BASE_URL">): (string | undefined)[] {
  if (HOST) return [HOST];
  return isLocal(BASE_URL) ? ["127.0.0.1", "::1"] : [undefined];
}

/** Plain http lets others on the network read passwords. */
export const warnAboutHttp = (baseUrl: string): string | undefined =>
  baseUrl.startsWith("https:") || isLocal(baseUrl)
    ? undefined
    : `BASE_URL is ${baseUrl}: without https, passwords and sessions can be read on the network. Use a proxy with TLS (docs/operations.md).`;

/** Only the first address must exist, since a machine may lack IPv6. @returns a function that closes the others */
export async function listenAt(
  server: HttpServer,
  port: number,
  [first, ...others]: (string | undefined)[],
): Promise<() => void> {
  await listening(server, port, first);
  const { port: bound } = server.address() as AddressInfo;
  const more: Server[] = [];
  for (const address of others) {
    // as the HTTP server sets them
    const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket));
    try {
      await listening(other, bound, address);
      more.push(other);
    } catch (error) {
      if (!["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return () => {
    for (const other of more) other.close();
  };
}

async function listening(server: Server, port: number, address: string | undefined): Promise<void> {
  server.listen(port, address);
  await once(server, "listening");
}
