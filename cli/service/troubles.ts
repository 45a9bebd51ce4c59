import { join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { withLock } from "../files/file-lock.ts";
import { isFields } from "../files/json.ts";
import { readJsonFile, stateFolder, writeFileAtomically } from "../files/state-files.ts";
import { runTool } from "../install/tools.ts";
import { HttpError } from "../server/api.ts";

export type TroubleCause = "login" | "expiring" | "quota" | "unreachable" | "failed";

export type Trouble = { cause: TroubleCause; message: string; since: string; times: number; notifiedAt?: string };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/**
 * A laptop that slept has not tried to send, and hotel networks answer with their own pages, so these need several
 * tries.
 */
const minTries: Partial<Record<TroubleCause, number>> = { unreachable: 8, failed: 3 };

export const getTroublesPath = (host: Host): string => join(stateFolder(host), "troubles.json");

export async function readTroubles(host: Host): Promise<Trouble[]> {
  const found = await readJsonFile(getTroublesPath(host));
  return Array.isArray(found) ? found.filter(isTrouble) : [];
}

const isTrouble = (value: unknown): value is Trouble =>
  isFields(value) &&
  [value.cause, value.message, value.since].every((one) => typeof one === "string") &&
  typeof value.times === "number";

export function findCause(error: unknown): TroubleCause {
  if (error instanceof HttpError) {
    if (error.status === 401) return "login";
    if (error.status === 413) return "quota";
    return error.status === 429 || error.status >= 500 ? "unreachable" : "failed";
  }
  if (!(error instanceof CommandError)) return "failed";
  return error.kind === "login" || error.kind === "unreachable" ? error.kind : "failed";
}

/** Several processes of the service may record troubles at the same moment. */
const change = (host: Host, make: (troubles: Trouble[]) => Promise<Trouble[]>): Promise<void> =>
  withLock(`${getTroublesPath(host)}.lock`, async () => {
    const troubles = await readTroubles(host);
    const next = await make(troubles);
    if (next !== troubles) await save(host, next);
  });

/** It notifies at most once a day for each cause, and of an unreachable server after a day. */
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

export async function forgetTroubles(host: Host, causes?: TroubleCause[]): Promise<void> {
  if ((await readTroubles(host)).length === 0) return;
  await change(host, async (troubles) => {
    const rest = causes ? troubles.filter(({ cause }) => !causes.includes(cause)) : [];
    return rest.length < troubles.length ? rest : troubles;
  });
}

/** If the state can't be written, a trouble is shown again, which is better than never. */
async function save(host: Host, troubles: Trouble[]): Promise<void> {
  await writeFileAtomically(getTroublesPath(host), JSON.stringify(troubles)).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
  });
}

const title = "Spoor";

/** The message is never part of a program's source. */
export async function notify(host: Host, message: string): Promise<void> {
  if (host.platform === "darwin") {
    const script = ["on run argv", "display notification (item 1 of argv) with title (item 2 of argv)", "end run"];
    await runTool(host, ["osascript", ...script.flatMap((line) => ["-e", line]), message, title]);
  } else if (host.platform === "win32") {
    const words = ["powershell", "-NoProfile", "-NonInteractive", "-WindowStyle", "Hidden", "-Command", toast];
    await runTool(host, words, { SPOOR_TITLE: title, SPOOR_MESSAGE: message });
  } else await runTool(host, ["notify-send", "--app-name", title, "--", title, message]);
}

/** Windows requires the id of a known program, so this is PowerShell's. */
const toast = [
  "$null = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]",
  "$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent('ToastText02')",
  "$texts = $xml.GetElementsByTagName('text')",
  "$null = $texts.Item(0).AppendChild($xml.CreateTextNode($env:SPOOR_TITLE))",
  "$null = $texts.Item(1).AppendChild($xml.CreateTextNode($env:SPOOR_MESSAGE))",
  "$id = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'",
  "$toast = [Windows.UI.Notifications.ToastNotification]::new($xml)",
  "[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($id).Show($toast)",
].join("; ");
