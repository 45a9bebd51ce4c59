import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "../adapters/adapter.ts";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { configFolder, stateFolder } from "../files/state-files.ts";
import { targets } from "../install/agents/targets.ts";
import { computeSha256, isThere, readIfThere, removeEmptyFolders } from "../install/files.ts";
import { undoEdit } from "../install/installation.ts";
import { type Manifest, readManifest, removeManifest } from "../install/manifest.ts";
import { getPlaces } from "../install/places.ts";
import { findService, runAll } from "../install/services/service.ts";
import { keyPath } from "../originals/keys.ts";
import { getLogPath } from "../service/log.ts";
import { endProcess, findRunningPid, removeState } from "../service/state.ts";
import { forgetTroubles, getTroublesPath } from "../service/troubles.ts";
import { readSettings, settingsPath } from "../settings.ts";
import { styled } from "../terminal/terminal.ts";
import { logout } from "./account.ts";

/** Undoes what `install` did, except for files that the user has changed since. */
export async function uninstall(context: Context): Promise<void> {
  const { host, terminal, values } = context;
  const manifest = await readManifest(host);
  if (!manifest) {
    terminal.say("Nothing is installed.");
    terminal.json({ installed: false, removed: [], kept: [] });
    return;
  }
  const paths = [...Object.keys(manifest.files), ...manifest.edits.map(({ path }) => path)];
  const isDry = values["dry-run"] === true;
  if (values.yes !== true || isDry) {
    terminal.say(`This ${isDry ? "would remove" : "removes"} what \`install\` wrote:`);
    for (const path of paths) terminal.say(`  ${path}${path in manifest.files ? "" : " (only the added text)"}`);
    if (manifest.hasService) terminal.say("and stops the background service.");
    if (manifest.loggedIn) terminal.say(`The login at ${manifest.server} ends. Uploaded sessions stay there.`);
    if (isDry) return terminal.json({ dryRun: true, paths });
    await confirm(context);
  }
  const { removed, kept } = await undo(context, manifest);
  for (const path of kept) terminal.warn(`! ${path} was changed since, so it was kept.`);
  terminal.say(styled("green", "✓"), " Uninstalled.");
  if (!manifest.loggedIn && (await readSettings(host)).accounts[manifest.server])
    terminal.say(`The login stays in ${settingsPath(host)}; revoke it at ${manifest.server}/devices`);
  if (await isThere(keyPath(host)))
    terminal.say(`The key for your exact copies stays in ${keyPath(host)}. Without it, they can't be decrypted.`);
  terminal.json({ installed: true, removed, kept });
}

async function confirm({ terminal, signal }: Context): Promise<void> {
  if (!terminal.canAsk) throw new CommandError("usage", "Nobody can answer here. Confirm with --yes.");
  const isAgreed = await terminal.ask("Go on?", signal, true);
  signal.throwIfAborted();
  if (!isAgreed) throw new CommandError("usage", "Nothing was removed.");
}

async function undo(context: Context, manifest: Manifest): Promise<{ removed: string[]; kept: string[] }> {
  const { host, terminal } = context;
  const [removed, kept]: [string[], string[]] = [[], []];
  if (manifest.hasService) await stopService(context);
  for (const edit of manifest.edits) {
    const target = targets[edit.agent];
    const outcome = target && "undo" in target ? await undoEdit(edit, target.undo) : "kept";
    if (outcome === "undone") removed.push(edit.path);
    if (outcome === "kept") kept.push(edit.path);
  }
  if (manifest.loggedIn) await logOut(context, manifest.server);
  for (const [path, hashes] of Object.entries(manifest.files)) {
    const now = await readIfThere(path);
    if (now === undefined) continue;
    if (hashes.includes(computeSha256(now))) {
      await rm(path);
      removed.push(path);
    } else kept.push(path);
  }
  if (manifest.hasService)
    for (const line of await runAll(host, findService(host)?.forget() ?? [])) terminal.warn(`! ${line}`);
  await removeTraces(host, manifest);
  await removeManifest(host);
  await removeEmptyFolders([...manifest.folders, configFolder(host), dirname(getPlaces(host).manifest)]);
  return { removed, kept };
}

const maxEndMs = 8000;
const endStepMs = 50;

async function stopService({ host, terminal }: Context): Promise<void> {
  const service = findService(host);
  for (const line of await runAll(host, service?.stop() ?? [])) terminal.warn(`! ${line}`);
  if (host.platform === "win32") await endProcess(host);
  // Not every system waits, and a process that still runs would write its state again.
  for (let waited = 0; waited < maxEndMs && (await findRunningPid(host)) !== undefined; waited += endStepMs) {
    await sleep(endStepMs);
  }
}

async function logOut(context: Context, server: string): Promise<void> {
  if (!(await readSettings(context.host)).accounts[server]) return;
  await logout({ ...context, values: { ...context.values, server } });
}

async function removeTraces(host: Host, { madeSettings, madeState }: Manifest): Promise<void> {
  await removeState(host);
  await forgetTroubles(host);
  for (const path of [getTroublesPath(host), getLogPath(host), `${getLogPath(host)}.1`])
    await rm(path, { force: true });
  if (madeState) await rm(stateFolder(host), { recursive: true, force: true });
  const { accounts } = await readSettings(host);
  if (madeSettings && Object.keys(accounts).length === 0) await rm(settingsPath(host), { force: true });
}
