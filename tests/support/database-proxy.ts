import { connect, createServer, type Socket } from "node:net";
import { afterAll } from "vitest";

/**
 * Provides a proxy for a database on a loopback port; it stops after the file's tests.
 *
 * @param join connects a client's socket with the database; by default both are piped
 * @returns `via` changes a database's URL to the proxy; `interrupt` breaks every connection and refuses new ones
 */
export function provideDatabaseProxy(join: (near: Socket, reach: () => Socket) => void = pipe) {
  const sockets = new Set<Socket>();
  let target = { host: "", port: 0 };
  const keep = (socket: Socket) => {
    sockets.add(socket);
    return socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  };
  const proxy = createServer((near) => join(keep(near), () => keep(connect(target))));
  const interrupt = () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  afterAll(interrupt);
  const via = async (url: string): Promise<string> => {
    const changed = new URL(url);
    target = { host: changed.hostname, port: Number(changed.port) };
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const address = proxy.address();
    changed.hostname = "127.0.0.1";
    changed.port = String(typeof address === "object" && address?.port);
    return changed.href;
  };
  return { via, interrupt };
}

function pipe(near: Socket, reach: () => Socket): void {
  const far = reach();
  near.pipe(far).on("close", () => near.destroy());
  far.pipe(near).on("close", () => far.destroy());
}
