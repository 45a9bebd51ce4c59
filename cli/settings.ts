import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Host } from "./adapters/adapter.ts";
import { CommandError } from "./errors.ts";
import { isFields } from "./files/json-lines.ts";
import { configFolder, readJsonFile, writeFileAtomically } from "./files/state-files.ts";

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
  /** A random name of this machine for telemetry, made at the first login or scan. */
  deviceId: string;
  /** The server of the last login. */
  server?: string;
  /** By the servers' URLs. */
  accounts: Record<string, Account>;
};

/** Is filled in by the server that delivers this file (app/spoor.mjs/route.ts). */
const deliveredBy = "@SPOOR_SERVER@";

export const settingsPath = (host: Host): string => join(configFolder(host), "settings.json");

export async function readSettings(host: Host): Promise<Settings> {
  const found = await readJsonFile(settingsPath(host));
  const known = isFields(found) ? found : {};
  return {
    deviceId: typeof known.deviceId === "string" ? known.deviceId : randomUUID(),
    ...(typeof known.server === "string" && { server: known.server }),
    accounts: isFields(known.accounts) ? (known.accounts as Settings["accounts"]) : {},
  };
}

/** Mode 0600, since it holds tokens. */
export const writeSettings = (host: Host, settings: Settings): Promise<void> =>
  writeFileAtomically(settingsPath(host), `${JSON.stringify(settings, null, 2)}\n`);

/**
 * The server to talk to: the one that is named, else `SPOOR_URL`, else the one that delivered this file, else that of the
 * last login.
 *
 * @throws Failure where none is known, or what is named is no http or https URL
 */
export function serverOf(host: Host, settings: Settings, named: string | undefined): string {
  const delivered = URL.canParse(deliveredBy) ? deliveredBy : undefined;
  const given = named ?? (host.env.SPOOR_URL || undefined) ?? delivered ?? settings.server;
  if (!given) throw new CommandError("usage", "Which server? Name it with --server URL or SPOOR_URL.");
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new CommandError("usage", `"${given}" is no http or https URL.`);
  return url.origin;
}

/** The token to use at a server: `SPOOR_TOKEN` before the one of a login. */
export const tokenOf = (host: Host, settings: Settings, server: string): string | undefined =>
  host.env.SPOOR_TOKEN || settings.accounts[server]?.token;
