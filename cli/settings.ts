import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Host } from "./adapters/adapter.ts";
import { CommandError } from "./errors.ts";
import { isMissingOrForbidden } from "./files/discovery.ts";
import { withLock } from "./files/file-lock.ts";
import { isFields, parseJson } from "./files/json.ts";
import { configFolder, readJsonFile, writeFileAtomically } from "./files/state-files.ts";
import { readTextFile } from "./files/text-file.ts";
import { running } from "./running.ts";

/** A login at one server. */
export type Account = {
  token: string;
  userId: string;
  name: string;
  email: string;
  machine: string;
  /** ISO 8601 */
  expiresAt: string;
};

export type Settings = {
  /** This machine's random id in telemetry, created at the first login or scan. */
  deviceId: string;
  /** The server of the last login. */
  server?: string;
  /** By the server's origin. */
  accounts: Record<string, Account>;
  /** Origins on a network that may be talked to unencrypted. */
  plainHttp?: string[];
  /** Which projects are sent, as cli/projects/rules.ts reads them. */
  projects?: unknown;
  /** Of which projects pictures are sent, in the same form. */
  pictures?: unknown;
  /** Origins that this machine's sessions were agreed to be sent to. */
  agreedTo?: string[];
  /** Whether secrets are masked before sessions are sent; they are, unless it is false. */
  redact?: boolean;
  /** What they are masked with, in hexadecimal. */
  redactKey?: string;
};

export const settingsPath = (host: Host): string => join(configFolder(host), "settings.json");

export async function readSettings(host: Host): Promise<Settings> {
  const found = await readJsonFile(settingsPath(host));
  const known = isFields(found) ? found : {};
  return {
    ...known, // also what a newer client has written
    deviceId: typeof known.deviceId === "string" ? known.deviceId : randomUUID(),
    ...(typeof known.server === "string" && { server: known.server }),
    accounts: filterAccounts(known.accounts),
    ...(Array.isArray(known.plainHttp) && { plainHttp: known.plainHttp.map(String) }),
    ...(typeof known.redact === "boolean" && { redact: known.redact }),
    ...(typeof known.redactKey === "string" && { redactKey: known.redactKey }),
    ...(Array.isArray(known.agreedTo) && { agreedTo: known.agreedTo.map(String) }),
  };
}

/** Only what may be an account: settings are edited by hand, too. */
const filterAccounts = (value: unknown): Settings["accounts"] =>
  Object.fromEntries(
    Object.entries(isFields(value) ? value : {}).filter(([, one]) => isFields(one)),
  ) as Settings["accounts"];

/** Whether there are settings that can't be used: not JSON, or not to be read. */
export async function areSettingsBroken(host: Host): Promise<boolean> {
  try {
    return !isFields(parseJson((await readTextFile(settingsPath(host))) ?? ""));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!isMissingOrForbidden(error) && code !== "EISDIR") throw error;
    return !["ENOENT", "ENOTDIR"].includes(code);
  }
}

/** Writes the settings at mode 0600: they contain tokens. */
export const writeSettings = (host: Host, settings: Settings): Promise<void> =>
  writeFileAtomically(settingsPath(host), `${JSON.stringify(settings, null, 2)}\n`);

/**
 * Changes the settings as they are now: another command may have written them since this one began, or be about to.
 *
 * @returns the settings before
 * @throws CommandError where they can't be written, or can't be read: what they hold would be lost
 */
export function updateSettings(host: Host, change: (settings: Settings) => Settings): Promise<Settings> {
  const path = settingsPath(host);
  return withLock(`${path}.lock`, async () => {
    if (await areSettingsBroken(host)) {
      throw new CommandError("failed", `${path} can't be read, so it was left as it is. Mend it, or remove it.`);
    }
    const before = await readSettings(host);
    await writeSettings(host, change(before));
    return before;
  });
}

/**
 * The server to talk to: `--server`, else `SPOOR_URL`, else the server that delivered this file, else that of the last login.
 *
 * @throws CommandError where there is none, or it is no http or https URL
 */
export function requireServer(host: Host, settings: Settings, option: string | undefined): string {
  const server = findServer(host, settings, option);
  if (server === undefined) throw new CommandError("usage", "No server is set. Use --server URL or set SPOOR_URL.");
  return server;
}

/** As `serverOf`; undefined where there is none. @throws CommandError where it is no http or https URL */
export function findServer(host: Host, settings: Settings, option: string | undefined): string | undefined {
  const given = option ?? findNamedServer(host) ?? settings.server;
  return given ? parseOrigin(given) : undefined;
}

/**
 * The server that `SPOOR_TOKEN` is for: what stands beside it in the environment, or in this file. That of the last login is
 * none: a login elsewhere would take the token along.
 *
 * @throws as `serverIfSet`
 */
export function findTokenServer(host: Host): string | undefined {
  const named = findNamedServer(host);
  return named ? parseOrigin(named) : undefined;
}

/** The server that delivered this file; undefined for one that npm or a build made. */
export const findDeliveringServer = (): string | undefined =>
  URL.canParse(running.deliveredBy) ? parseOrigin(running.deliveredBy) : undefined;

const findNamedServer = ({ env }: Host): string | undefined =>
  env.SPOOR_URL || (URL.canParse(running.deliveredBy) ? running.deliveredBy : undefined);

function parseOrigin(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CommandError("usage", `"${given}" is not an http or https URL.`);
  return url.origin;
}
