// Where the web server listens, and whether that is safe.
import { once } from "node:events";
import type { Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { Env } from "#lib/env";

/** Whether a URL's host is the machine itself. */
function isLocal(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(?:.+\.)?localhost$|^\[::1\]$|^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** The addresses to listen on; undefined is all of them. While people use the server as localhost, nobody else reaches it. */
export function chooseAddresses({ HOST, BASE_URL }: Pick<Env, "HOST" | "BASE_URL">): (string | undefined)[] {
  if (HOST) return [HOST];
  return isLocal(BASE_URL) ? ["127.0.0.1", "::1"] : [undefined];
}

/** What the operator should know of the address that people use; undefined where it is safe. */
export const warnAboutHttp = (baseUrl: string): string | undefined =>
  baseUrl.startsWith("https:") || isLocal(baseUrl)
    ? undefined
    : `BASE_URL is ${baseUrl}: without https, passwords and sessions can be read on the network. Put a proxy with TLS in front (docs/operations.md).`;

/**
 * Lets one HTTP server listen at several addresses. Only the first has to exist: a machine may be without IPv6.
 *
 * @returns what stops listening at the others
 */
export async function listenAt(
  server: HttpServer,
  port: number,
  [first, ...others]: (string | undefined)[],
): Promise<() => void> {
  await listening(server, port, first);
  const { port: bound } = server.address() as AddressInfo;
  const more: Server[] = [];
  for (const address of others) {
    // As the HTTP server's own.
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
  await once(server, "listening"); // rejects with the server's error
}
