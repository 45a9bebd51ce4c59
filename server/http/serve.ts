import "server-only";
import { once } from "node:events";
import type { EmbeddedDatabase } from "#lib/db/embedded/embedded";
import { say, warn } from "#server/commands/command";
import { program, supervise } from "#server/processes";

type Running = Awaited<ReturnType<typeof supervise>>;

export type Role = "all" | "dev" | "web" | "worker";

const built = {
  web: { name: "web", words: [program("web")] },
  worker: { name: "worker", words: [program("worker")] },
};
const sources = {
  web: { name: "web", words: ["server/web.ts", "--dev"] },
  worker: { name: "worker", words: ["--conditions=react-server", "server/worker.ts"] },
};

/** @param whenUp is awaited before a process is restarted */
export function startProcesses(
  role: Role,
  variables: Record<string, string> = {},
  signal?: AbortSignal,
  whenUp?: () => Promise<void>,
): Promise<Running> {
  const wanted = {
    all: [built.worker, built.web],
    dev: [sources.worker, sources.web],
    web: [built.web],
    worker: [built.worker],
  }[role];
  return supervise(wanted, { ...variables, NODE_ENV: role === "dev" ? "development" : "production" }, signal, whenUp);
}

/**
 * Runs until a stop is requested; a request during the start aborts it.
 * @param onceReady returns whether to continue
 * @throws if the start fails, or a process or the database can't be kept running
 */
export async function serve(
  starting: Promise<Running>,
  database: Pick<EmbeddedDatabase, "keep">,
  stopRequest: AbortSignal,
  onceReady: () => Promise<boolean>,
): Promise<void> {
  const kept = database.keep(warn);
  kept.catch(() => {});
  const processes = await starting.catch((error) => {
    if (!stopRequest.aborted) throw error;
  });
  if (!processes) return;
  try {
    const end = Promise.race([processes.lost, kept, waitForAbort(stopRequest)]);
    end.catch(() => {});
    const continues = await Promise.race([onceReady(), end.then(() => true)]);
    if (!continues) return;
    await end;
    say("Stopping…");
  } finally {
    await processes.stop();
  }
}

async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
