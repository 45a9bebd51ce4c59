import { readFile } from "node:fs/promises";
import { type Context, stringValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import { computeSha256 } from "../install/files.ts";
import { readManifest } from "../install/manifest.ts";
import { getPlaces, getRunningFile, isNpmFile } from "../install/places.ts";
import { running } from "../program.ts";
import { Api } from "../server/api.ts";
import { isPrivate } from "../server/origin.ts";
import { findDeliveringServer, findTokenServer, readSettings, requireServer, type Settings } from "../settings.ts";
import { compareVersions, downloadRelease, type Release, readRelease } from "./release.ts";
import { replaceProgram } from "./replace.ts";

export type AvailableUpdate = { release: Release; own: Uint8Array; path: string; isOlder: boolean };

export function checkOwnFile(): void {
  if (running.version === "source")
    throw new CommandError("usage", "This client runs from its source. Update the source.");
  if (isNpmFile(getRunningFile())) {
    throw new CommandError("usage", "npm installed this client. Update it with: npm install -g spoor-client@latest");
  }
}

/**
 * @returns undefined if the server delivers the same client
 * @throws CommandError if the server doesn't describe its client
 */
export async function findUpdate(api: Api): Promise<AvailableUpdate | undefined> {
  const path = getRunningFile();
  const own = await readFile(path);
  const release = await readRelease(api);
  if (!release) {
    const advice = "The server is older than this client, or was built without one. Nothing was changed.";
    throw new CommandError("failed", `${api.url} does not publish the SHA-256 of its client. ${advice}`);
  }
  if (release.sha256 === computeSha256(own)) return undefined;
  const difference = compareVersions(release.version, running.version);
  return { release, own, path, isOlder: difference === undefined || difference < 0 };
}

export async function takeUpdate(
  { host }: Context,
  api: Api,
  { release, own, path }: AvailableUpdate,
): Promise<boolean> {
  const bytes = await downloadRelease(api, release, own);
  if (!bytes) return false;
  await replaceProgram(host, path, bytes, release.version);
  return true;
}

/**
 * Only the server of this machine's login and installation may deliver programs.
 *
 * @throws CommandError for any other
 */
export async function checkOrigin({ host }: Context, settings: Settings, server: string): Promise<void> {
  const isLoggedIn =
    settings.accounts[server] !== undefined || (host.env.SPOOR_TOKEN && findTokenServer(host) === server);
  if (!isLoggedIn) {
    throw new CommandError("login", `This machine is not logged in to ${server}, so its client is not installed.`);
  }
  const isInstalled = getRunningFile() === getPlaces(host).client;
  const origin = (isInstalled ? (await readManifest(host))?.server : undefined) ?? findDeliveringServer();
  if (origin !== undefined && origin !== server) {
    const advice = "To use another server's client, download it there and run its install command.";
    throw new CommandError("usage", `This client belongs to ${origin} and does not update from ${server}. ${advice}`);
  }
}

/**
 * It never installs an older version, nor one from another local user's server.
 *
 * @returns true if the client was replaced
 */
export async function updateInBackground(context: Context): Promise<boolean> {
  const { host, terminal, signal } = context;
  const settings = await readSettings(host);
  const server = requireServer(host, settings, stringValue(context, "server"));
  if (!isPrivate(server) || isNpmFile(getRunningFile()) || running.version === "source") return false;
  await checkOrigin(context, settings, server);
  const api = new Api(server, { patienceSeconds: 0, signal });
  const found = await findUpdate(api);
  if (!found) return false;
  if (found.isOlder) {
    terminal.warn(`${server} has version ${found.release.version}, which is older, so it is not installed.`);
    return false;
  }
  if (!server.startsWith("https:") && !(await isOwnListener(server))) {
    terminal.warn(
      `Not updated: another user of this machine may be answering at ${server}. To install its version: spoor update`,
    );
    return false;
  }
  if (!(await takeUpdate(context, api, found))) return false;
  terminal.warn(`Updated to version ${found.release.version}.`);
  return true;
}

/** A listening socket in /proc/net/tcp (proc_net(5)). */
const listening = "0A";
const tables = ["/proc/net/tcp", "/proc/net/tcp6"];

/** @param text of /proc/net/tcp @returns the users whose sockets listen on the port */
export function parseListeners(text: string, port: number): number[] {
  const rows = text.split("\n").map((line) => line.trim().split(/\s+/));
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return rows
    .filter(([, local, , state]) => state === listening && local?.endsWith(ending))
    .map((row) => Number(row[7]));
}

/** While a local server is down, another account can take its port. Only Linux shows whose it is. */
export async function isOwnListener(server: string, uid = process.getuid?.()): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const texts = await Promise.all(tables.map((path) => readFile(path, "utf8").catch(() => "")));
  const users = texts.flatMap((text) => parseListeners(text, Number(new URL(server).port || 80)));
  return users.length > 0 && users.every((user) => user === 0 || user === uid);
}
