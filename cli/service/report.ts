import type { Context } from "../context.ts";
import { CommandError, exitCodes } from "../errors.ts";
import { readManifest } from "../install/manifest.ts";
import { HttpError } from "../server/api.ts";
import { type AccountInfo, connectLoggedIn, fetchAccount } from "../server/connection.ts";
import { updateInBackground } from "../update/update.ts";
import { noteError, redirectToLog, updatedCode } from "./background.ts";
import { readState, saveState } from "./state.ts";
import { forgetTroubles, noteTrouble } from "./troubles.ts";

const dayMs = 86_400_000;
const expiringDays = 7;

/** @returns `updatedCode` after an update */
export async function report(foreground: Context): Promise<number> {
  const context = redirectToLog(foreground);
  const { host, values, signal } = context;
  try {
    const connection = await connectLoggedIn({ ...context, values: { ...values, patience: "0" } });
    const account = await fetchAccount(connection);
    const state = await readState(host);
    if (state) await saveState(host, { ...state, heardAt: new Date().toISOString() });
    await forgetTroubles(host, ["login", "unreachable", "expiring"]);
    await noteExpiry(context, connection.server, account);
  } catch (error) {
    signal.throwIfAborted();
    await noteError(context, error);
    return exitCodes.failed;
  }
  return (await hasUpdated(context)) ? updatedCode : exitCodes.done;
}

async function noteExpiry({ host, terminal }: Context, server: string, { expiresAt }: AccountInfo): Promise<void> {
  const days = (Date.parse(expiresAt) - Date.now()) / dayMs;
  if (!(days < expiringDays)) return;
  const message = `This machine's login at ${server} ends on ${expiresAt.slice(0, 10)}. Log in again with: spoor login`;
  await noteTrouble(host, "expiring", terminal.plain(message));
}

async function hasUpdated(context: Context): Promise<boolean> {
  try {
    return (await readManifest(context.host))?.autoUpdate === true && (await updateInBackground(context));
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof CommandError || error instanceof HttpError)) throw error;
    context.terminal.warn(`Not updated: ${error.message}`);
    return false;
  }
}
