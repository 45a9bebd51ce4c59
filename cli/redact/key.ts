import { randomBytes } from "node:crypto";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { areSettingsBroken, readSettings, type Settings, updateSettings } from "../settings.ts";

const keyBytes = 32;

const parseKey = ({ redactKey }: Settings): Buffer | undefined =>
  redactKey !== undefined && /^[0-9a-f]{64}$/.test(redactKey) ? Buffer.from(redactKey, "hex") : undefined;

export const isRedacting = ({ redact }: Settings): boolean => redact !== false;

/** Loads the key that masks secrets, and makes it at the first use. @returns undefined if masking is off */
export async function loadMaskKey({ host, values }: Context): Promise<Buffer | undefined> {
  const settings = await readSettings(host);
  if (values["no-redact"] === true || !isRedacting(settings)) return undefined;
  const made = randomBytes(keyBytes).toString("hex");
  if (parseKey(settings)) return parseKey(settings);
  // Another command may have made one at the same time. If the settings are broken, the key is for this run only.
  if (await areSettingsBroken(host)) return Buffer.from(made, "hex");
  await updateSettings(host, (now) => (parseKey(now) ? now : { ...now, redactKey: made })).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
  });
  return parseKey(await readSettings(host)) ?? Buffer.from(made, "hex");
}
