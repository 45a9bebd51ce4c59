// A placeholder carries a hidden mark of its picture through whatever the adapter does with the text.
import { createHash, randomBytes } from "node:crypto";
import { findPictureType, isDrawable } from "../../common/evidence/picture-format.ts";
import type { Fields } from "../files/json.ts";
import type { Message } from "./adapter.ts";
import { asString } from "./values.ts";

export type PictureReference = { sha256: string; mediaType: string; bytes: number };

export type Picture = PictureReference & { data: Buffer<ArrayBuffer> };

const MiB = 1024 * 1024;
export const maxPictureBytes = 5 * MiB;
/** Allowance for what precedes the data in an address. */
const maxHeadBytes = 1024;
const maxPicturesPerMessage = 200;

/** Random in each process, so that no file can contain it. */
const mark = `\ue0f0${randomBytes(8).toString("hex")}`;
const marks = new RegExp(`${mark}([0-9a-f]{64}) (image/\\w+) (\\d+);`, "g");

const waiting = new Map<string, Buffer<ArrayBuffer>>();
let waitingBytes = 0;
/** Two lines of maximum length, because adapters may delay a few messages. */
const maxWaitingBytes = 32 * MiB;

/** @param data base64, an address that contains it, or a list of bytes */
export function formatData(kind: string, mediaType: unknown, data: unknown): string {
  const type = asString(mediaType);
  const bytes = typeof data === "string" ? (data.length * 3) / 4 : Array.isArray(data) ? data.length : undefined;
  const size = bytes === undefined ? "" : `, ${Math.ceil(bytes / 1024)} KiB`;
  const isPicture = kind === "image" || type?.startsWith("image/") === true;
  const isSmall = bytes !== undefined && bytes <= maxPictureBytes + maxHeadBytes;
  const mark = isPicture && isSmall ? recognize(decode(data)) : "";
  return `[${kind}: ${type ?? "unknown type"}${size}]${mark}`;
}

export function formatInlineData({ mimeType, data }: { mimeType?: unknown; data?: unknown }): string {
  const type = asString(mimeType) ?? "data";
  return formatData(type.startsWith("image/") ? "image" : "file", type, data ?? "");
}

export const parseDataUrlType = (url: unknown): string | undefined =>
  typeof url === "string" ? /^data:([\w.+-]+\/[\w.+-]+)/.exec(url)?.[1] : undefined;

/** Nothing is read from an address that does not contain its data. */
export function formatUrl(kind: string, url: string): string {
  const type = parseDataUrlType(url);
  return type ? formatData(kind, type, url) : `[${kind}: ${url.slice(0, 2048)}]`;
}

export function describeUrl(kind: string, url: unknown): Fields {
  const type = parseDataUrlType(url);
  return type ? { type } : { type: kind, name: (asString(url) ?? "").slice(0, 2048) };
}

export function makePicture(url: unknown): Message {
  const type = parseDataUrlType(url);
  const content = formatData("image", type, type && url);
  return { role: "user", content, metadata: { attachments: [describeUrl("image", url)] } };
}

function decode(data: unknown): Buffer<ArrayBuffer> {
  if (Array.isArray(data)) return Buffer.from(data);
  const text = String(data);
  return Buffer.from(text.startsWith("data:") ? text.slice(text.indexOf(",") + 1) : text, "base64");
}

function recognize(data: Buffer<ArrayBuffer>): string {
  const mediaType = findPictureType(data);
  if (!mediaType || data.length > maxPictureBytes || !isDrawable(data)) return "";
  const sha256 = createHash("sha256").update(data).digest("hex");
  keep(sha256, data);
  return `${mark}${sha256} ${mediaType} ${data.length};`;
}

function keep(sha256: string, data: Buffer<ArrayBuffer>): void {
  takeBytes(sha256);
  waiting.set(sha256, data);
  waitingBytes += data.length;
  for (const oldest of waiting.keys()) {
    if (waitingBytes <= maxWaitingBytes) break;
    takeBytes(oldest);
  }
}

function takeBytes(sha256: string): Buffer<ArrayBuffer> | undefined {
  const data = waiting.get(sha256);
  waiting.delete(sha256);
  waitingBytes -= data?.length ?? 0;
  return data;
}

export function forgetPictures(): void {
  if (waiting.size > 0) waiting.clear();
  waitingBytes = 0;
}

/** `pictures` has those of the references whose bytes were not taken before. */
export type Taken = { message: Message; references: PictureReference[]; pictures: Picture[] };

export function takePictures(message: Message): Taken {
  const taken: Taken = { message, references: [], pictures: [] };
  const content = message?.content;
  if (typeof content !== "string" || !content.includes(mark)) return taken;
  const plain = content.replace(marks, (_, sha256: string, mediaType: string, bytes: string) => {
    if (taken.references.length >= maxPicturesPerMessage) return "";
    const reference = { sha256, mediaType, bytes: Number(bytes) };
    taken.references.push(reference);
    const data = takeBytes(sha256);
    if (data) taken.pictures.push({ ...reference, data });
    return "";
  });
  return { ...taken, message: { ...message, content: plain } };
}

export const withReferences = (message: Message, pictures: readonly PictureReference[]): Message =>
  pictures.length === 0 ? message : { ...message, metadata: { ...message.metadata, pictures } };
