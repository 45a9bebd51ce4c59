import { isDeepStrictEqual } from "node:util";
import { asFields } from "../adapters/values.ts";
import { parseJson, toList } from "../files/json.ts";
import type { OpenFile } from "./collect.ts";

export const readMessages = (bytes: Buffer): unknown[] => toList(asFields(parseJson(bytes.toString())).messages);

export const startsWith = (messages: readonly unknown[], start: readonly unknown[]): boolean =>
  isDeepStrictEqual(messages.slice(0, start.length), start);

/** Rewritten files begin with times and tokens, which change. */
export async function continuesMessages(file: OpenFile, copied: Buffer): Promise<boolean> {
  const start = readMessages(copied);
  return start.length > 0 && startsWith(readMessages(await file.read(0, file.bytes)), start);
}
