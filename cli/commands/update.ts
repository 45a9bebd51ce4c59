import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { running } from "../program.ts";
import type { Api } from "../server/api.ts";
import { connect } from "../server/connection.ts";
import { MismatchError, readRelease } from "../update/release.ts";
import { type AvailableUpdate, checkOrigin, checkOwnFile, findUpdate, takeUpdate } from "../update/update.ts";

export async function update(context: Context): Promise<void> {
  const { terminal, values, signal } = context;
  checkOwnFile();
  const { settings, server, api } = await connect(context, { token: "none" });
  await checkOrigin(context, settings, server);
  const found = await findUpdate(api);
  const report = (outcome: string) =>
    terminal.json({ server, outcome, from: running.version, to: found?.release.version ?? running.version });
  if (!found) {
    terminal.say(`Up to date: ${server} delivers version ${running.version}.`);
    return report("same");
  }
  const { release, isOlder } = found;
  if (values.check === true) {
    const what = isOlder
      ? "an older version"
      : release.version === running.version
        ? "another build"
        : "a newer version";
    terminal.say(`${server} has ${what}: ${release.version} (this is ${running.version}). Nothing was changed.`);
    return report(isOlder ? "older" : "newer");
  }
  if (isOlder && values["allow-older"] !== true) {
    const question = `${server} has version ${release.version}, which is older than this one (${running.version}). Install it?`;
    if (!(await terminal.ask(question, signal))) {
      signal.throwIfAborted();
      throw new CommandError(
        "usage",
        `Version ${release.version} is older than this one. Install it with --allow-older.`,
      );
    }
  }
  const isTaken = await takeNow(context, api, found);
  if (isTaken) terminal.say(`Updated from version ${running.version} to ${release.version}: ${found.path}`);
  else terminal.say(`Up to date: version ${running.version}.`);
  report(isTaken ? "updated" : "same");
}

/** Retries once if the server was just being updated itself. */
async function takeNow(context: Context, api: Api, found: AvailableUpdate): Promise<boolean> {
  try {
    return await takeUpdate(context, api, found);
  } catch (error) {
    if (!(error instanceof MismatchError)) throw error;
    const release = await readRelease(api);
    if (!release || release.sha256 === found.release.sha256 || release.version !== found.release.version) throw error;
    return takeUpdate(context, api, { ...found, release });
  }
}
