import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { toBlocks } from "../blocks.ts";
import { makeNotice, withMetadata } from "../messages.ts";
import { formatData } from "../pictures.ts";
import { asFields, asString } from "../values.ts";
import { contextTypes, fileTypes } from "./line-types.ts";
import { readHook } from "./notices.ts";

export type AttachedFile = { type?: string; name?: string };

export type Attached = {
  messages: Message[];
  file?: AttachedFile;
  isQueued?: boolean;
};

export function readAttachment({ attachment, isMeta }: Fields, unhandled: Unhandled): Attached | undefined {
  if (!isFields(attachment)) return undefined;
  const type = asString(attachment.type) ?? "(none)";
  if (type === "queued_command") return { messages: readQueued(attachment, isMeta === true), isQueued: true };
  const hook = readHook(attachment);
  if (hook) return { messages: hook };
  if (fileTypes.has(type)) return { messages: [], file: readAttachedFile(type, attachment) };
  if (!contextTypes.has(type)) unhandled(`attachment.${type}`);
  return { messages: [] };
}

/** No other line has what was typed while the agent worked. */
function readQueued(attachment: Fields, isMeta: boolean): Message[] {
  const { prompt, commandMode, origin } = attachment;
  const kind = isFields(origin) ? (asString(origin.kind) ?? "human") : "human";
  const isOwn = !isMeta && attachment.isMeta !== true && kind === "human" && commandMode !== "task-notification";
  return toBlocks(prompt).flatMap((block): Message[] => {
    if (isFile(block)) return [makeFileMessage(block)];
    const text = asString(block.text);
    if (text === undefined || text.trim() === "") return [];
    return [isOwn ? { role: "user", content: text } : makeNotice(text, "user")];
  });
}

const readAttachedFile = (type: string, { filename, displayPath, path, name, uri }: Fields): AttachedFile => ({
  type,
  ...toName(asString(displayPath) ?? asString(filename) ?? asString(path) ?? asString(uri) ?? asString(name)),
});

const toName = (name: string | undefined) => (name === undefined ? {} : { name });

const isFile = ({ type }: Fields): boolean => type === "image" || type === "document";

export function makeFileMessage(block: Fields): Message {
  const type = asString(asFields(block.source).media_type);
  const file = { ...(type && { type }), ...toName(asString(block.title)) };
  const message = { role: "user", content: formatFile(block) };
  return Object.keys(file).length > 0 ? withMetadata(message, { attachments: [file] }) : message;
}

export function formatFile({ type, source }: Fields): string {
  const { media_type: mediaType, data } = asFields(source);
  return formatData(String(type), mediaType, data);
}

const maxFiles = 100;

export function attachFile(message: Message, file: AttachedFile): Message {
  const known = Array.isArray(message.metadata?.attachments) ? message.metadata.attachments : [];
  return known.length >= maxFiles ? message : withMetadata(message, { attachments: [...known, file] });
}
