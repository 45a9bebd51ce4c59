import { connect, createServer, type Socket } from "node:net";
import { afterAll } from "vitest";
import { provideServer, type Server } from "./server.ts";

/** A server without a worker, with an operator's secrets, whose database can be taken away for good. */
export async function provideInterruptibleServer(): Promise<{ server: Server; secret: string; interrupt: () => void }> {
  const secret = "an operator's secret for tests";
  const { via, interrupt } = provideInterruption();
  const environment = { CRON_SECRET: secret, METRICS_TOKEN: secret };
  return { server: await provideServer({ worker: false, environment, via }), secret, interrupt };
}

/** A proxy to a database that a test can interrupt: connections are broken, and new ones refused. */
function provideInterruption() {
  const sockets = new Set<Socket>();
  let target = { host: "", port: 0 };
  const proxy = createServer((near) => {
    const far = connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    near.pipe(far).on("close", () => near.destroy());
    far.pipe(near).on("close", () => far.destroy());
  });
  const interrupt = () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  afterAll(interrupt);
  /** The database's URL through this proxy. */
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
