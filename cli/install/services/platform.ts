import type { Host } from "../../adapters/adapter.ts";
import { launchd } from "./launchd.ts";
import type { Service } from "./service.ts";
import { systemd } from "./systemd.ts";
import { taskScheduler } from "./task-scheduler.ts";

/** @returns undefined on a system without a known service manager */
export function findService(host: Host): Service | undefined {
  if (host.platform === "linux") return systemd(host);
  if (host.platform === "darwin") return launchd(host);
  return host.platform === "win32" ? taskScheduler(host) : undefined;
}
