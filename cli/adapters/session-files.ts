import { realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { statInput } from "../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../files/json.ts";
import { readJsonItems } from "../files/json-items.ts";
import { readWholeFile } from "../files/json-lines.ts";
import type { Input, Sink } from "./adapter.ts";
import { asFields } from "./values.ts";

/** The session's title may be in another file. */
export async function addStamp(input: Input, path: string): Promise<Input> {
  const file = await statInput(path);
  return file ? { ...input, stamp: `${input.stamp} ${file.stamp}` } : input;
}

/** Counts the file as an entry, invalid if it is no JSON object. */
export async function readObjectFile(path: string, sink: Sink): Promise<Fields | undefined> {
  sink.entry();
  const text = await readWholeFile(path, sink);
  const value = text === undefined ? undefined : parseJson(text);
  if (isFields(value)) return value;
  sink.invalid(`${basename(path)} is not a JSON object`);
  return undefined;
}

/**
 * @param list the keys that lead to the list
 * @returns the fields around it; undefined if the file is cut off
 */
export async function readMessageFile(
  path: string,
  list: readonly string[],
  sink: Sink,
  handle: (message: Fields, number: number) => void,
): Promise<Fields | undefined> {
  let rest: unknown;
  const isComplete = await readJsonItems(
    path,
    {
      list,
      item(json, number) {
        sink.entry(number);
        const message = parseJson(json);
        if (isFields(message)) handle(message, number);
        else sink.invalid("not a message");
      },
      rest(json) {
        rest = parseJson(json);
      },
    },
    {
      tooLong: (number) => sink.lost(`message ${number} of ${basename(path)} is too long`),
      pause: () => sink.pause(),
    },
  );
  const isList = list.length === 0 && Array.isArray(rest);
  if (isComplete && (isList || isFields(rest))) return asFields(rest);
  sink.entry();
  sink.invalid(`${basename(path)} is cut off, or has no list of messages`);
  return undefined;
}

/**
 * A link in somebody's repository may lead to a left-out project.
 *
 * @throws if the file is missing, and as `Sink.folder`
 */
export async function nameRealFolder(path: string, sink: Sink): Promise<void> {
  sink.folder(dirname(await realpath(path)));
}
