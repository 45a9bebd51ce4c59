import { isDeepStrictEqual } from "node:util";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Edit } from "../manifest.ts";
import { blankComments, insertionInto, type JsonNode, memberOf, placesIn, withoutPart } from "./json-text.ts";

/** What an edit makes of a file: its new text, or why it is left alone; neither where nothing is to be done. */
export type Edited = { text: string; edit: Omit<Edit, "path" | "agent"> } | { problem: string } | undefined;

/** A hook in an agent's settings: `hooks` has lists of groups of these, by event. */
export type Hook = { type: "command"; command: string } & Fields;

/**
 * Adds a hook to an agent's settings by inserting one piece of text, so that nothing else changes: no order, no number, no
 * blank, no comment.
 *
 * @param text undefined where the file is missing
 */
export function addHook(text: string | undefined, event: string, hook: Hook): Edited {
  const { command } = hook;
  const group = { hooks: [hook] };
  if (text === undefined) {
    const made = `${JSON.stringify({ hooks: { [event]: [group] } }, null, 2)}\n`;
    return { text: made, edit: { inserted: made, offset: 0, command, made: ["file", "hooks", event] } };
  }
  const plain = blankComments(text);
  const settings = parseJson(plain);
  if (!isFields(settings)) return { problem: "it is not valid JSON" };
  const { hooks } = settings;
  if (hooks !== undefined && !isFields(hooks)) return { problem: "its hooks are not in the expected format" };
  const groups = hooks?.[event];
  if (groups !== undefined && !Array.isArray(groups)) return { problem: `its ${event} hooks are not in a list` };
  if (hasHook(settings, event, command)) return undefined;
  const { inserted, offset, made } = insertionOf(text, placesIn(plain), event, group);
  const edited = text.slice(0, offset) + inserted + text.slice(offset);
  const found = parseJson(blankComments(edited));
  const isWanted = [
    [...(groups ?? []), group],
    [group, ...(groups ?? [])],
  ].some((all) => isDeepStrictEqual(found, { ...settings, hooks: { ...hooks, [event]: all } }));
  if (!isWanted) return { problem: "it has a form that can't be edited safely" };
  return { text: edited, edit: { inserted, offset, command, made } };
}

function insertionOf(text: string, root: JsonNode, event: string, group: object) {
  const hooks = memberOf(root, "hooks")?.value;
  const groups = memberOf(hooks, event)?.value;
  const render = (value: unknown, key?: string) => (indent: string, unit: string, line: string) => {
    const lines = JSON.stringify(value, null, unit).split("\n");
    return (key === undefined ? "" : `${JSON.stringify(key)}: `) + lines.join(line + indent);
  };
  if (groups) return { ...insertionInto(text, groups, 2, render(group)), made: [] };
  if (hooks) return { ...insertionInto(text, hooks, 1, render([group], event)), made: [event] };
  const whole = render({ [event]: [group] }, "hooks");
  return { ...insertionInto(text, root, 0, whole), made: ["hooks", event] };
}

const listIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const isOurs = (hook: unknown, command: string): boolean => isFields(hook) && hook.command === command;

function hasHook(settings: Fields, event: string, command: string): boolean {
  const groups = isFields(settings.hooks) ? listIn(settings.hooks[event]) : [];
  return groups.some((group) => isFields(group) && listIn(group.hooks).some((hook) => isOurs(hook, command)));
}

/**
 * Takes the hook out again. Where the settings were written anew since, it is found by its command.
 *
 * @returns undefined where the hook is not there, or the file can't be read as JSON
 */
export function removeHook(text: string, event: string, { inserted, offset, command, made }: Edit): string | undefined {
  const settings = parseJson(blankComments(text));
  if (!isFields(settings) || !hasHook(settings, event, command)) return undefined;
  for (const at of [offset, text.indexOf(inserted)]) {
    if (at < 0 || text.slice(at, at + inserted.length) !== inserted) continue;
    const before = text.slice(0, at) + text.slice(at + inserted.length);
    if (before === "") return before; // the file was ours
    const rest = parseJson(blankComments(before));
    if (isFields(rest) && !hasHook(rest, event, command)) return before;
  }
  return removeByCommand(text, settings, event, { command, made });
}

function removeByCommand(
  text: string,
  settings: Fields,
  event: string,
  { command, made }: Pick<Edit, "command" | "made">,
): string | undefined {
  const groups = listIn((settings.hooks as Fields)[event]);
  const group = groups.findIndex((one) => isFields(one) && listIn(one.hooks).some((hook) => isOurs(hook, command)));
  const hook = listIn((groups[group] as Fields).hooks).findIndex((one) => isOurs(one, command));
  const places = memberOf(memberOf(placesIn(blankComments(text)), "hooks")?.value, event)?.value;
  const ownHooks = memberOf(places?.items?.[group], "hooks")?.value;
  if (!places || !ownHooks) return undefined;
  const rest = ownHooks.items?.length === 1 ? withoutPart(text, places, group) : withoutPart(text, ownHooks, hook);
  return withoutEmpty(rest, event, made);
}

/** Removes what the insertion had made and is empty now. */
function withoutEmpty(text: string, event: string, made: string[]): string {
  let rest = text;
  for (const name of [event, "hooks"]) {
    const root = placesIn(blankComments(rest));
    const holder = name === "hooks" ? root : memberOf(root, "hooks")?.value;
    const member = memberOf(holder, name);
    const isEmpty = member && /^[[{]\s*[\]}]$/.test(rest.slice(member.value.start, member.value.end));
    if (holder && isEmpty && made.includes(name)) {
      rest = withoutPart(rest, holder, holder.members?.indexOf(member) ?? -1);
    }
  }
  return made.includes("file") && /^\s*\{\s*\}\s*$/.test(rest) ? "" : rest;
}
