import { isDeepStrictEqual } from "node:util";
import { type Fields, isFields, parseJson, toList } from "../../files/json.ts";
import type { FileEdit } from "../manifest.ts";
import { blankComments, findMember, type JsonNode, makeInsertion, parsePlaces, removePart } from "./json-text.ts";

/** The edited file, or the reason to leave it alone; undefined if it needs no change. */
export type Edited = { text: string; edit: Omit<FileEdit, "path" | "agent"> } | { problem: string } | undefined;

export type Hook = { type: "command"; command: string } & Fields;

/**
 * One insertion keeps order, blanks and comments.
 *
 * @param text undefined if the file is missing
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
  const { inserted, offset, made } = findInsertion(text, parsePlaces(plain), event, group);
  const edited = text.slice(0, offset) + inserted + text.slice(offset);
  const found = parseJson(blankComments(edited));
  const isWanted = [
    [...(groups ?? []), group],
    [group, ...(groups ?? [])],
  ].some((all) => isDeepStrictEqual(found, { ...settings, hooks: { ...hooks, [event]: all } }));
  if (!isWanted) return { problem: "it has a form that can't be edited safely" };
  return { text: edited, edit: { inserted, offset, command, made } };
}

function findInsertion(text: string, root: JsonNode, event: string, group: object) {
  const hooks = findMember(root, "hooks")?.value;
  const groups = findMember(hooks, event)?.value;
  const render = (value: unknown, key?: string) => (indent: string, unit: string, line: string) => {
    const lines = JSON.stringify(value, null, unit).split("\n");
    return (key === undefined ? "" : `${JSON.stringify(key)}: `) + lines.join(line + indent);
  };
  if (groups) return { ...makeInsertion(text, groups, 2, render(group)), made: [] };
  if (hooks) return { ...makeInsertion(text, hooks, 1, render([group], event)), made: [event] };
  const whole = render({ [event]: [group] }, "hooks");
  return { ...makeInsertion(text, root, 0, whole), made: ["hooks", event] };
}

const isOurs = (hook: unknown, command: string): boolean => isFields(hook) && hook.command === command;

function hasHook(settings: Fields, event: string, command: string): boolean {
  const groups = isFields(settings.hooks) ? toList(settings.hooks[event]) : [];
  return groups.some((group) => isFields(group) && toList(group.hooks).some((hook) => isOurs(hook, command)));
}

/**
 * The settings may have been rewritten, so the command identifies the hook.
 *
 * @returns undefined if it is missing or the file is not JSON
 */
export function removeHook(
  text: string,
  event: string,
  { inserted, offset, command, made }: FileEdit,
): string | undefined {
  const settings = parseJson(blankComments(text));
  if (!isFields(settings) || !hasHook(settings, event, command)) return undefined;
  for (const at of [offset, text.indexOf(inserted)]) {
    if (at < 0 || text.slice(at, at + inserted.length) !== inserted) continue;
    const before = text.slice(0, at) + text.slice(at + inserted.length);
    if (before === "") return before;
    const rest = parseJson(blankComments(before));
    if (isFields(rest) && !hasHook(rest, event, command)) return before;
  }
  return removeByCommand(text, settings, event, { command, made });
}

function removeByCommand(
  text: string,
  settings: Fields,
  event: string,
  { command, made }: Pick<FileEdit, "command" | "made">,
): string | undefined {
  const groups = toList((settings.hooks as Fields)[event]);
  const group = groups.findIndex((one) => isFields(one) && toList(one.hooks).some((hook) => isOurs(hook, command)));
  const hook = toList((groups[group] as Fields).hooks).findIndex((one) => isOurs(one, command));
  const places = findMember(findMember(parsePlaces(blankComments(text)), "hooks")?.value, event)?.value;
  const ownHooks = findMember(places?.items?.[group], "hooks")?.value;
  if (!places || !ownHooks) return undefined;
  const rest = ownHooks.items?.length === 1 ? removePart(text, places, group) : removePart(text, ownHooks, hook);
  return removeEmpty(rest, event, made);
}

function removeEmpty(text: string, event: string, made: string[]): string {
  let rest = text;
  for (const name of [event, "hooks"]) {
    const root = parsePlaces(blankComments(rest));
    const holder = name === "hooks" ? root : findMember(root, "hooks")?.value;
    const member = findMember(holder, name);
    const isEmpty = member && /^[[{]\s*[\]}]$/.test(rest.slice(member.value.start, member.value.end));
    if (holder && isEmpty && made.includes(name)) {
      rest = removePart(rest, holder, holder.members?.indexOf(member) ?? -1);
    }
  }
  return made.includes("file") && /^\s*\{\s*\}\s*$/.test(rest) ? "" : rest;
}
