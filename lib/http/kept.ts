// Bodies that are the same for everybody: each is compressed once, and not for every reader.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { declareGzip } from "#lib/current-request";
import { sha256 } from "#lib/digest";

export type Kept = {
  bytes: Buffer<ArrayBuffer>;
  /** It is weak, since both encodings share it. */
  etag: string;
  /** Compresses the bytes at the first call. */
  compressed: () => Promise<Buffer<ArrayBuffer>>;
};

export function keep(text: string): Kept {
  const bytes = Buffer.from(text);
  let compressing: Promise<Buffer<ArrayBuffer>> | undefined;
  return {
    bytes,
    etag: `W/"${sha256(bytes).toString("base64url").slice(0, 22)}"`,
    compressed: () => (compressing ??= promisify(gzip)(bytes, { level: 9 })),
  };
}

/** Answers with a kept body, compressed where the client takes gzip, and with 304 where it has the body already. */
export async function answerKept(
  { headers: asked }: Request,
  { bytes, etag, compressed }: Kept,
  given: Record<string, string>,
): Promise<Response> {
  const headers = { ...given, ETag: etag, Vary: "Accept-Encoding" };
  if (isKnown(asked.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  const packed = takesGzip(asked.get("accept-encoding")) && (await compressed());
  return new Response(packed && declareGzip() ? packed : bytes, { headers });
}

/** Compares weakly (RFC 9110, section 13.1.2): some proxies weaken an entity tag. */
function isKnown(header: string | null, etag: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, "");
  const given = header?.split(",").map(strong) ?? [];
  return given.includes(strong(etag)) || given.includes("*");
}

/** Next compresses by itself for a client whose header is written in another way. */
const takesGzip = (header: string | null) =>
  /(?:^|,)\s*gzip\s*(?:;\s*q=(?:1|0\.\d*[1-9]\d*)(?:\.0*)?\s*)?(?:,|$)/i.test(header ?? "");
