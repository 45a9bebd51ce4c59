import { isDrawable } from "#lib/evidence/picture-size";
import type { Block } from "#lib/reader/message";
import { isPlainlyMarkdown } from "#lib/reader/said";

/** Matches image data in Markdown or alone on a line. SVG is excluded because it can contain scripts. */
const inText =
  /!\[([^\]\n]{0,200})\]\((data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+)\)|^(data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]{100,})$/gm;

const maxImages = 50;

/** A person's text stays as written unless it is plainly Markdown. */
export function textBlocks(text: string, kind: string): Block[] {
  const type = kind === "user" && !isPlainlyMarkdown(text) ? "said" : "markdown";
  if (!text.includes("data:image/")) return [{ type, text }];
  const blocks: Block[] = [];
  let from = 0;
  const add = (part: string) => part.trim() !== "" && blocks.push({ type, text: part });
  for (const { 0: whole, 1: label, 2: linked, 3: bare, index } of text.matchAll(inText)) {
    if (blocks.length >= 2 * maxImages) break;
    add(text.slice(from, index));
    const url = linked ?? bare ?? "";
    const data = Buffer.from(url.slice(url.indexOf(",") + 1), "base64");
    if (isDrawable(data)) blocks.push({ type: "image", text: url, label: label || "Image" });
    else add(`[image: ${url.slice(5, url.indexOf(";"))}, ${Math.ceil(data.length / 1024)} KiB]`);
    from = index + whole.length;
  }
  add(text.slice(from));
  return blocks;
}
