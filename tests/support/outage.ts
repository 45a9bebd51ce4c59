import { provideDatabaseProxy } from "./database-proxy.ts";
import { provideServer, type Server } from "./server.ts";

/** A server without a worker, with an operator's secrets, whose database can be taken away for good. */
export async function provideInterruptibleServer(): Promise<{ server: Server; secret: string; interrupt: () => void }> {
  const secret = "an operator's secret for tests";
  const { via, interrupt } = provideDatabaseProxy();
  const environment = { CRON_SECRET: secret, METRICS_TOKEN: secret };
  return { server: await provideServer({ worker: false, environment, via }), secret, interrupt };
}
