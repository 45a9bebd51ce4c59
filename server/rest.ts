import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { log } from "#lib/core/log";
import { releaseAll } from "#lib/core/memory";

/** Checks in a row below this share of a core make a process idle. */
const idle = { checkMs: 5000, cores: 0.1, checks: 6 };
const worthBytes = 16 * 1024 * 1024;

/**
 * V8 collects garbage only when it needs space, so a process would keep the memory of its start or last large upload.
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
    used = process.cpuUsage();
    rested = process.memoryUsage.rss();
    log.debug({ before, rested }, "memory was released");
  };
  setInterval(
    () => check().catch((error) => log.warn({ err: error }, "memory was not released")),
    idle.checkMs,
  ).unref();
}

/** This stops the process for about 0.1 s. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: { type: "major"; flavor: "last-resort" }) => void;
  setFlagsFromString("--no-expose-gc");
  gc({ type: "major", flavor: "last-resort" });
}
