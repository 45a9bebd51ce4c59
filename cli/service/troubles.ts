import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { withLock } from "../files/file-lock.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import { HttpError } from "../server/api.ts";
import { notify } from "./notification.ts";

/** Why nothing is sent in the background. */
export type TroubleCause = "login" | "expiring" | "quota" | "unreachable" | "failed";

/** A trouble since it was first seen. Times are ISO 8601. */
export type Trouble = { cause: TroubleCause; message: string; since: string; times: number; notifiedAt?: string };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A laptop that was asleep for a day has not tried, and a hotel's network answers with pages of its own: it takes so many tries. */
const minTries: Partial<Record<TroubleCause, number>> = { unreachable: 8, failed: 3 };

export const getTroublesPath = (host: Host): string => join(stateFolder(host), "troubles.json");

/** What is wrong now, the oldest first. */
export async function readTroubles(host: Host): Promise<Trouble[]> {
  const found = await readJsonFile(getTroublesPath(host));
  return Array.isArray(found) ? found.filter(isTrouble) : [];
}

const isTrouble = (value: unknown): value is Trouble =>
  isFields(value) &&
  [value.cause, value.message, value.since].every((one) => typeof one === "string") &&
  typeof value.times === "number";

/** Which trouble an error is. */
export function findCause(error: unknown): TroubleCause {
  if (error instanceof HttpError) {
    if (error.status === 401) return "login";
    if (error.status === 413) return "quota";
    return error.status === 429 || error.status >= 500 ? "unreachable" : "failed";
  }
  if (!(error instanceof CommandError)) return "failed";
  return error.kind === "login" || error.kind === "unreachable" ? error.kind : "failed";
}

/** Several processes of the service note what goes wrong, maybe at the same moment. */
const change = (host: Host, make: (troubles: Trouble[]) => Promise<Trouble[]>): Promise<void> =>
  withLock(`${getTroublesPath(host)}.lock`, async () => {
    const troubles = await readTroubles(host);
    const next = await make(troubles);
    if (next !== troubles) await save(host, next);
  });

/** Notes a trouble, and shows it on the desktop: at most once a day for each cause, a server that is away after a day. */
export function noteTrouble(host: Host, cause: TroubleCause, message: string, now = new Date()): Promise<void> {
  return change(host, async (troubles) => {
    const known = troubles.find((one) => one.cause === cause);
    const trouble: Trouble = {
      ...(known?.notifiedAt && { notifiedAt: known.notifiedAt }),
      cause,
      message,
      since: known?.since ?? now.toISOString(),
      times: (known?.times ?? 0) + 1,
    };
    if (isDue(trouble, now)) {
      trouble.notifiedAt = now.toISOString();
      await notify(host, message);
    }
    return [...troubles.filter((one) => one !== known), trouble];
  });
}

function isDue({ cause, since, times, notifiedAt }: Trouble, now: Date): boolean {
  if (notifiedAt && now.getTime() - Date.parse(notifiedAt) < dayMs) return false;
  const isOld = cause !== "unreachable" || now.getTime() - Date.parse(since) >= dayMs;
  return isOld && times >= (minTries[cause] ?? 1);
}

/** Forgets troubles that are over; all of them without `causes`. */
export async function forgetTroubles(host: Host, causes?: TroubleCause[]): Promise<void> {
  if ((await readTroubles(host)).length === 0) return;
  await change(host, async (troubles) => {
    const rest = causes ? troubles.filter(({ cause }) => !causes.includes(cause)) : [];
    return rest.length < troubles.length ? rest : troubles;
  });
}

/** Where the state can't be written, a trouble is shown again; that is better than not at all. */
async function save(host: Host, troubles: Trouble[]): Promise<void> {
  await writeFileAtomically(getTroublesPath(host), JSON.stringify(troubles)).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
  });
}
