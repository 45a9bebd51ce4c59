import { createHash } from "node:crypto";

const beginnings = {
  "image/png": Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x08\0\0\0\x08", "latin1"),
  "image/jpeg": Buffer.from([0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0, 8, 0, 8]),
  "image/gif": Buffer.from("GIF89a\x08\0\x08\0\0\0\0,\0\0\0\0\x08\0\x08\0"),
  "image/webp": Buffer.from("RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x08\0\x08\0", "latin1"),
  "image/svg+xml": Buffer.from("<svg/>"),
};

/** A picture of its own by its number, of 8 by 8 pixels as far as its first bytes tell: its data, how a message names it, and its placeholder. */
export function makePicture(number: number, bytes = 2000, mediaType: keyof typeof beginnings = "image/png") {
  const rest = createHash("sha256").update(String(number)).digest();
  const whole = Buffer.alloc(bytes, rest);
  beginnings[mediaType].copy(whole);
  const data = whole.toString("base64");
  return {
    mediaType,
    data,
    url: `data:${mediaType};base64,${data}`,
    reference: { sha256: createHash("sha256").update(whole).digest("hex"), mediaType, bytes },
    placeholder: `[image: ${mediaType}, ${Math.ceil((data.length * 3) / 4 / 1024)} KiB]`,
    /** As Anthropic's API has it. */
    block: { type: "image", source: { type: "base64", media_type: mediaType, data } },
  };
}
