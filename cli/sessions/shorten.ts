import type { Message } from "../adapters/adapter.ts";
import { isFields } from "../files/json.ts";
import { missingNote } from "../files/line-shortener.ts";

/**
 * Shortens a message's longest texts until its JSON has at most `maxBytes`; a message without long texts becomes a
 * note.
 */
export function shortenMessage(message: Message, maxBytes: number): Message {
  for (let share = 0.95; maxBytes * share > 1024; share /= 2) {
    const short = shortenTexts(message, Math.floor(maxBytes * share)) as Message;
    if (jsonBytes(short) <= maxBytes) return short;
  }
  const { position, role, createdAt } = message;
  const content = missingNote(jsonBytes(message), "bytes").trim();
  return {
    ...(position !== undefined && { position }),
    ...(role && { role }),
    content,
    ...(createdAt && { createdAt }),
  };
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function shortenTexts(value: unknown, maxBytes: number): unknown {
  if (typeof value === "string") return shortenText(value, maxBytes);
  if (Array.isArray(value)) return value.map((item) => shortenTexts(item, maxBytes));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortenTexts(item, maxBytes)]));
}

function shortenText(text: string, maxBytes: number): string {
  if (text.length * 6 <= maxBytes) return text;
  const bytes = jsonBytes(text);
  if (bytes <= maxBytes) return text;
  const noteBytes = 128;
  let kept = text;
  for (
    let length = text.length * ((maxBytes - noteBytes) / bytes);
    jsonBytes(kept) > maxBytes - noteBytes;
    length *= 0.95
  ) {
    kept = text.slice(0, Math.floor(length)).toWellFormed();
  }
  return kept + missingNote(text.length - kept.length, "characters");
}
