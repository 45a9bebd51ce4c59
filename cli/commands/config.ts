import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { program } from "../program.ts";
import { addRules, normalizeGlob } from "../projects/edit.ts";
import { type ProjectRule, ProjectRules } from "../projects/rules.ts";
import { isRedacting } from "../redact/masker.ts";
import { loadSettings } from "../server/connection.ts";
import { type Settings, updateSettings } from "../settings.ts";

export async function config(context: Context): Promise<void> {
  const [name, value, ...more] = context.words;
  const see = `See: ${program} config --help`;
  if (name !== undefined && name !== "redact" && name !== "pictures") {
    throw new CommandError("usage", `Unknown setting "${name}". ${see}`);
  }
  const isOther = value !== undefined && value !== "on" && value !== "off";
  if (isOther || (name === "redact" && more.length > 0)) {
    throw new CommandError("usage", `${name} is on or off, not "${[value, ...more].join(" ")}". ${see}`);
  }
  if (value !== undefined) await updateSettings(context.host, (now) => applyChange(context, now, more));
  const settings = await loadSettings(context);
  const redact = isRedacting(settings);
  const { rules } = ProjectRules.of(context.host, { projects: settings.pictures });
  if (name !== "pictures") sayRedact(context, redact, value === "off");
  if (name !== "redact") sayPictures(context, rules, value);
  context.terminal.json({ redact, pictures: rules });
}

function applyChange({ host, words: [name, value] }: Context, now: Settings, globs: readonly string[]): Settings {
  if (name === "redact") return { ...now, redact: value === "on" };
  const { rules } = ProjectRules.of(host, { projects: now.pictures });
  return {
    ...now,
    pictures: changePictureRules(
      rules,
      value === "on",
      globs.map((glob) => normalizeGlob(glob, host)),
    ),
  };
}

function changePictureRules(rules: readonly ProjectRule[], isOn: boolean, globs: readonly string[]): ProjectRule[] {
  if (isOn && rules.length === 0) return []; // they are already on for all projects
  return addRules(rules, isOn ? "include" : "exclude", globs.length > 0 ? globs : ["**"]);
}

function sayRedact({ terminal }: Context, redact: boolean, isNew: boolean): void {
  terminal.say(
    `redact    ${redact ? "on " : "off"}  secrets are ${redact ? "masked before sessions are sent" : "sent as they are"}`,
  );
  if (isNew) terminal.say(`Sent sessions stay unmasked. To mask again: ${program} config redact on`);
}

function sayPictures({ terminal }: Context, rules: readonly ProjectRule[], value: string | undefined): void {
  const isOff = rules.some((rule) => "exclude" in rule && rule.exclude === "**");
  const sent = "pictures that were pasted, or returned by tools, are";
  terminal.say(`pictures  ${isOff ? "off" : "on "}  ${sent} ${isOff ? "not sent" : "sent with their sessions"}`);
  for (const rule of rules) {
    if ("include" in rule) terminal.say(`          on   for ${rule.include}`);
    else if (rule.exclude !== "**") terminal.say(`          off  for ${rule.exclude}`);
  }
  if (value === "off") terminal.say("Sent pictures stay on the server until their session is deleted.");
  if (value === "on") terminal.say("Missing pictures are sent with the next push.");
}
