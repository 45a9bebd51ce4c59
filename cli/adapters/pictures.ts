// Pictures whose bytes stand in an agent's file. Where an adapter makes a placeholder, a mark behind it tells which picture it stands
// for; the mark goes with the text through whatever the adapter does with it, and is taken out where the message is sent.
import { createHash, randomBytes } from "node:crypto";
import { isDrawable } from "../../lib/evidence/picture-size.ts";
import { findPictureType } from "../../lib/evidence/picture-type.ts";
import type { Message } from "./adapter.ts";
import { asString } from "./values.ts";

/** A picture as a message's metadata names it (docs/trace-format.md). */
export type PictureReference = { sha256: string; mediaType: string; bytes: number };

export type Picture = PictureReference & { data: Buffer<ArrayBuffer> };

const MiB = 1024 * 1024;
/** A larger picture is not sent. */
export const maxPictureBytes = 5 * MiB;
/** What may stand before the data in an address, and behind it. */
const maxHeadBytes = 1024;
/** A message names no more; metadata has a limit, too. */
const maxPicturesPerMessage = 200;

/** Drawn anew by each process, so that no file can hold it. */
const mark = `\ue0f0${randomBytes(8).toString("hex")}`;
const marks = new RegExp(`${mark}([0-9a-f]{64}) (image/\\w+) (\\d+);`, "g");

/** The bytes of pictures whose messages have not been sent, the latest last. */
const waiting = new Map<string, Buffer<ArrayBuffer>>();
let waitingBytes = 0;
/** Those of a longest line, twice: adapters hold back a message or some, which may have none. */
const maxWaitingBytes = 32 * MiB;

/**
 * A placeholder for a file: its type and size. Behind that of a picture stands its mark.
 *
 * @param data base64, an address that holds it, or a list of bytes
 */
export function dataText(kind: string, mediaType: unknown, data: unknown): string {
  const type = asString(mediaType);
  const bytes = typeof data === "string" ? (data.length * 3) / 4 : Array.isArray(data) ? data.length : undefined;
  const size = bytes === undefined ? "" : `, ${Math.ceil(bytes / 1024)} KiB`;
  const isPicture = kind === "image" || type?.startsWith("image/") === true;
  const isSmall = bytes !== undefined && bytes <= maxPictureBytes + maxHeadBytes;
  const mark = isPicture && isSmall ? recognize(decode(data)) : "";
  return `[${kind}: ${type ?? "unknown type"}${size}]${mark}`;
}

/** A placeholder for data in the shape of Gemini's API. */
export function inlineText({ mimeType, data }: { mimeType?: unknown; data?: unknown }): string {
  const type = asString(mimeType) ?? "data";
  return dataText(type.startsWith("image/") ? "image" : "file", type, data ?? "");
}

/** The type of an address that holds its data: `data:image/png;base64,…`. */
export const parseDataUrlType = (url: unknown): string | undefined =>
  typeof url === "string" ? /^data:([\w.+-]+\/[\w.+-]+)/.exec(url)?.[1] : undefined;

/** A placeholder for what an address leads to: nothing is read from one that does not hold it. */
export function urlText(kind: string, url: string): string {
  const type = parseDataUrlType(url);
  return type ? dataText(kind, type, url) : `[${kind}: ${url.slice(0, 2048)}]`;
}

function decode(data: unknown): Buffer<ArrayBuffer> {
  if (Array.isArray(data)) return Buffer.from(data);
  const text = String(data);
  return Buffer.from(text.startsWith("data:") ? text.slice(text.indexOf(",") + 1) : text, "base64");
}

/** The mark of a picture that can be sent, whose bytes are kept for its message; nothing for other data. */
function recognize(data: Buffer<ArrayBuffer>): string {
  const mediaType = findPictureType(data);
  if (!mediaType || data.length > maxPictureBytes || !isDrawable(data)) return "";
  const sha256 = createHash("sha256").update(data).digest("hex");
  keep(sha256, data);
  return `${mark}${sha256} ${mediaType} ${data.length};`;
}

function keep(sha256: string, data: Buffer<ArrayBuffer>): void {
  release(sha256);
  waiting.set(sha256, data);
  waitingBytes += data.length;
  for (const oldest of waiting.keys()) {
    if (waitingBytes <= maxWaitingBytes) break;
    release(oldest);
  }
}

function release(sha256: string): Buffer<ArrayBuffer> | undefined {
  const data = waiting.get(sha256);
  waiting.delete(sha256);
  waitingBytes -= data?.length ?? 0;
  return data;
}

/** Forgets the pictures of messages that were never sent. */
export function forgetPictures(): void {
  if (waiting.size > 0) waiting.clear();
  waitingBytes = 0;
}

/** A message without marks, what they named, and the pictures whose bytes are at hand: those that were not taken before. */
export type Taken = { message: Message; references: PictureReference[]; pictures: Picture[] };

/** Takes the pictures out of a message, in the order of their placeholders. */
export function takePictures(message: Message): Taken {
  const taken: Taken = { message, references: [], pictures: [] };
  const content = message?.content;
  if (typeof content !== "string" || !content.includes(mark)) return taken;
  const plain = content.replace(marks, (_, sha256: string, mediaType: string, bytes: string) => {
    if (taken.references.length >= maxPicturesPerMessage) return "";
    const reference = { sha256, mediaType, bytes: Number(bytes) };
    taken.references.push(reference);
    const data = release(sha256);
    if (data) taken.pictures.push({ ...reference, data });
    return "";
  });
  return { ...taken, message: { ...message, content: plain } };
}

/** A message that names its pictures. */
export const withReferences = (message: Message, pictures: readonly PictureReference[]): Message =>
  pictures.length === 0 ? message : { ...message, metadata: { ...message.metadata, pictures } };
