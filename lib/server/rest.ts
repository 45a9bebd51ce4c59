import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { log } from "#lib/log";
import { releaseAll } from "#lib/memory";

/** A process that used less than so much of a core, and this often in a row, has nothing to do. */
const idle = { checkMs: 5000, cores: 0.1, checks: 6 };
/** Memory has to have grown by so much since the last rest. */
const worthBytes = 16 * 1024 * 1024;

/**
 * Gives memory back whenever the process has had nothing to do for half a minute. V8 collects garbage when it needs room, so a
 * process keeps what its start or its last large upload took: 60 MiB less after a start, hundreds after a load.
 */
export function restWhenIdle(): void {
  let [quiet, used, rested] = [0, process.cpuUsage(), 0];
  const check = async () => {
    const { user, system } = process.cpuUsage(used);
    used = process.cpuUsage();
    quiet = user + system < idle.cores * idle.checkMs * 1000 ? quiet + 1 : 0;
    if (quiet < idle.checks || process.memoryUsage.rss() < rested + worthBytes) return;
    const before = process.memoryUsage.rss();
    await releaseAll();
    collect();
    used = process.cpuUsage(); // the rest itself is no work
    rested = process.memoryUsage.rss();
    log.debug({ before, rested }, "memory was given back");
  };
  setInterval(
    () => check().catch((error) => log.warn({ err: error }, "memory was not given back")),
    idle.checkMs,
  ).unref();
}

/** Collects all garbage, and gives the free pages back to the system. It stops the process for about 0.1 s. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: { type: "major"; flavor: "last-resort" }) => void;
  setFlagsFromString("--no-expose-gc");
  gc({ type: "major", flavor: "last-resort" });
}
