import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Host } from "./adapters/adapter.ts";
import { CommandError } from "./errors.ts";
import { readTextFile } from "./files/byte-reader.ts";
import { isMissingOrForbidden } from "./files/discovery.ts";
import { withLock } from "./files/file-lock.ts";
import { isFields, parseJson } from "./files/json.ts";
import { configFolder, readJsonFile, writeFileAtomically } from "./files/state-files.ts";
import { running } from "./program.ts";

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
  deviceId: string;
  server?: string;
  accounts: Record<string, Account>;
  plainHttp?: string[];
  /** cli/projects/rules.ts has their form. */
  projects?: unknown;
  /** cli/projects/rules.ts has their form. */
  pictures?: unknown;
  /** Exact copies are off without it; cli/projects/rules.ts has its form. */
  originals?: unknown;
  /** `install` has asked whether exact copies are wanted. */
  askedOriginals?: boolean;
  agreedTo?: string[];
  /** Secrets are masked unless this is false. */
  redact?: boolean;
  redactKey?: string;
};

export const settingsPath = (host: Host): string => join(configFolder(host), "settings.json");

export async function readSettings(host: Host): Promise<Settings> {
  const found = await readJsonFile(settingsPath(host));
  const known = isFields(found) ? found : {};
  return {
    ...known,
    deviceId: typeof known.deviceId === "string" ? known.deviceId : randomUUID(),
    ...(typeof known.server === "string" && { server: known.server }),
    accounts: filterAccounts(known.accounts),
    ...(Array.isArray(known.plainHttp) && { plainHttp: known.plainHttp.map(String) }),
    ...(typeof known.redact === "boolean" && { redact: known.redact }),
    ...(typeof known.redactKey === "string" && { redactKey: known.redactKey }),
    ...(Array.isArray(known.agreedTo) && { agreedTo: known.agreedTo.map(String) }),
  };
}

/** Settings may be edited by hand. */
const filterAccounts = (value: unknown): Settings["accounts"] =>
  Object.fromEntries(
    Object.entries(isFields(value) ? value : {}).filter(([, one]) => isFields(one)),
  ) as Settings["accounts"];

export async function areSettingsBroken(host: Host): Promise<boolean> {
  try {
    return !isFields(parseJson((await readTextFile(settingsPath(host))) ?? ""));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!isMissingOrForbidden(error) && code !== "EISDIR") throw error;
    return !["ENOENT", "ENOTDIR"].includes(code);
  }
}

export const writeSettings = (host: Host, settings: Settings): Promise<void> =>
  writeFileAtomically(settingsPath(host), `${JSON.stringify(settings, null, 2)}\n`);

/**
 * @returns the settings before
 * @throws CommandError if they can't be read, which would lose them, or written
 */
export function updateSettings(host: Host, change: (settings: Settings) => Settings): Promise<Settings> {
  const path = settingsPath(host);
  return withLock(`${path}.lock`, async () => {
    if (await areSettingsBroken(host)) {
      throw new CommandError("failed", `${path} can't be read, so it was not changed. Fix it, or remove it.`);
    }
    const before = await readSettings(host);
    await writeSettings(host, change(before));
    return before;
  });
}

/** @throws CommandError if there is none or the URL is invalid */
export function requireServer(host: Host, settings: Settings, option: string | undefined): string {
  const server = findServer(host, settings, option);
  if (server === undefined) throw new CommandError("usage", "No server is set. Use --server URL or set SPOOR_URL.");
  return server;
}

export function findServer(host: Host, settings: Settings, option: string | undefined): string | undefined {
  const given = option ?? findNamedServer(host) ?? settings.server;
  return given ? parseOrigin(given) : undefined;
}

/** The server of the last login must not get a token that is for another one. */
export function findTokenServer(host: Host): string | undefined {
  const named = findNamedServer(host);
  return named ? parseOrigin(named) : undefined;
}

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
