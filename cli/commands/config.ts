import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { program } from "../program.ts";
import { isRedacting } from "../redact/key.ts";
import { loadSettings } from "../server/connection.ts";
import { updateSettings } from "../settings.ts";

/** Shows what can be set on this machine, or sets it. */
export async function config(context: Context): Promise<void> {
  const [name, value, ...more] = context.words;
  const see = `See: ${program} config --help`;
  if (name !== undefined && name !== "redact") throw new CommandError("usage", `There is no setting "${name}". ${see}`);
  if (more.length > 0 || (value !== undefined && value !== "on" && value !== "off")) {
    throw new CommandError("usage", `redact is on or off, not "${[value, ...more].join(" ")}". ${see}`);
  }
  if (value !== undefined) await updateSettings(context.host, (now) => ({ ...now, redact: value === "on" }));
  const redact = isRedacting(await loadSettings(context));
  const { terminal } = context;
  terminal.say(
    `redact  ${redact ? "on " : "off"}  secrets are ${redact ? "masked before sessions are sent" : "sent as they are"}`,
  );
  if (value === "off") terminal.say(`What was sent before stays as it is. To mask again: ${program} config redact on`);
  terminal.json({ redact });
}
