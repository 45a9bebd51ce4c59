import { isDeepStrictEqual } from "node:util";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Edit } from "../manifest.ts";
import { insertionInto, type JsonNode, memberOf, placesIn, withoutPart } from "./json-text.ts";

/** What an edit makes of a file: its new text, or why it is left alone; neither where nothing is to be done. */
export type Edited = { text: string; edit: Omit<Edit, "path" | "agent"> } | { problem: string } | undefined;

const event = "SessionEnd";
/** The hook only starts a process of its own, which goes on after the agent has ended. */
const hookOf = (command: string) => ({ type: "command", command, timeout: 10 });
const groupOf = (command: string) => ({ hooks: [hookOf(command)] });

/**
 * Adds a hook to Claude Code's settings by inserting one piece of text, so that nothing else changes: no order, no number, no
 * blank.
 *
 * @param text undefined where the file is missing
 */
export function addHook(text: string | undefined, command: string): Edited {
  if (text === undefined) {
    const made = `${JSON.stringify({ hooks: { [event]: [groupOf(command)] } }, null, 2)}\n`;
    return { text: made, edit: { inserted: made, offset: 0, command, made: ["file", "hooks", event] } };
  }
  const settings = parseJson(text);
  if (!isFields(settings)) return { problem: "it is not plain JSON (it has comments, or is broken)" };
  const { hooks } = settings;
  if (hooks !== undefined && !isFields(hooks)) return { problem: "its hooks are not in the expected format" };
  const groups = hooks?.[event];
  if (groups !== undefined && !Array.isArray(groups)) return { problem: `its ${event} hooks are not in a list` };
  if (hasHook(settings, command)) return undefined;
  const root = placesIn(text);
  const { inserted, offset, made } = insertionOf(text, root, command);
  const edited = text.slice(0, offset) + inserted + text.slice(offset);
  const wanted = { ...settings, hooks: { ...hooks, [event]: [...(groups ?? []), groupOf(command)] } };
  if (!isDeepStrictEqual(parseJson(edited), wanted)) return { problem: "it has a form that can't be edited safely" };
  return { text: edited, edit: { inserted, offset, command, made } };
}

function insertionOf(text: string, root: JsonNode, command: string) {
  const hooks = memberOf(root, "hooks")?.value;
  const groups = memberOf(hooks, event)?.value;
  const render = (value: unknown, key?: string) => (indent: string, unit: string, line: string) => {
    const lines = JSON.stringify(value, null, unit).split("\n");
    return (key === undefined ? "" : `${JSON.stringify(key)}: `) + lines.join(line + indent);
  };
  if (groups) return { ...insertionInto(text, groups, 2, render(groupOf(command))), made: [] };
  if (hooks) return { ...insertionInto(text, hooks, 1, render([groupOf(command)], event)), made: [event] };
  const whole = render({ [event]: [groupOf(command)] }, "hooks");
  return { ...insertionInto(text, root, 0, whole), made: ["hooks", event] };
}

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const isOurs = (hook: unknown, command: string): boolean => isFields(hook) && hook.command === command;

function hasHook(settings: Fields, command: string): boolean {
  const groups = isFields(settings.hooks) ? listIn(settings.hooks[event]) : [];
  return groups.some((group) => isFields(group) && listIn(group.hooks).some((hook) => isOurs(hook, command)));
}

/**
 * Takes the hook out again. Where the settings were written anew since, it is found by its command.
 *
 * @returns undefined where the hook is not there, or the file can't be read as JSON
 */
export function removeHook(text: string, { inserted, offset, command, made }: Edit): string | undefined {
  const settings = parseJson(text);
  if (!isFields(settings) || !hasHook(settings, command)) return undefined;
  for (const at of [offset, text.indexOf(inserted)]) {
    if (at < 0 || text.slice(at, at + inserted.length) !== inserted) continue;
    const before = text.slice(0, at) + text.slice(at + inserted.length);
    if (before === "") return before; // the file was ours
    const rest = parseJson(before);
    if (isFields(rest) && !hasHook(rest, command)) return before;
  }
  return removeByCommand(text, command, made);
}

function removeByCommand(text: string, command: string, made: string[]): string | undefined {
  const root = placesIn(text);
  const settings = JSON.parse(text) as Fields;
  const groups = listIn((settings.hooks as Fields)[event]);
  const group = groups.findIndex((one) => isFields(one) && listIn(one.hooks).some((hook) => isOurs(hook, command)));
  const hook = listIn((groups[group] as Fields).hooks).findIndex((one) => isOurs(one, command));
  const places = memberOf(memberOf(root, "hooks")?.value, event)?.value;
  const ownHooks = memberOf(places?.items?.[group], "hooks")?.value;
  if (!places || !ownHooks) return undefined;
  const rest = ownHooks.items?.length === 1 ? withoutPart(text, places, group) : withoutPart(text, ownHooks, hook);
  return withoutEmpty(rest, made);
}

/** Removes what the insertion had made and is empty now. */
function withoutEmpty(text: string, made: string[]): string {
  let rest = text;
  for (const name of [event, "hooks"]) {
    const root = placesIn(rest);
    const holder = name === "hooks" ? root : memberOf(root, "hooks")?.value;
    const member = memberOf(holder, name);
    const isEmpty = (member?.value.items ?? member?.value.members)?.length === 0;
    if (holder && member && isEmpty && made.includes(name)) {
      rest = withoutPart(rest, holder, holder.members?.indexOf(member) ?? -1);
    }
  }
  return made.includes("file") && /^\s*\{\s*\}\s*$/.test(rest) ? "" : rest;
}
