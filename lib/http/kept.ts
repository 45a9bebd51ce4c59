// Bodies that are the same for everybody are compressed once.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { declareGzip } from "#lib/core/current-request";
import { sha256 } from "#lib/core/digest";

export type Kept = {
  bytes: Buffer<ArrayBuffer>;
  /** Weak, since both encodings share it. */
  etag: string;
  compressed: () => Promise<Buffer<ArrayBuffer>>;
};

export function keep(content: string | Buffer<ArrayBuffer>): Kept {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  let compressing: Promise<Buffer<ArrayBuffer>> | undefined;
  return {
    bytes,
    etag: `W/"${sha256(bytes).toString("base64url").slice(0, 22)}"`,
    compressed: () => (compressing ??= promisify(gzip)(bytes, { level: 9 })),
  };
}

export async function answerKept(
  { headers: asked }: Request,
  { bytes, etag, compressed }: Kept,
  given: Record<string, string>,
): Promise<Response> {
  const headers = { ...given, ETag: etag, Vary: "Accept-Encoding" };
  if (isKnown(asked.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  const isGzip = takesGzip(asked.get("accept-encoding")) && declareGzip();
  return new Response(isGzip ? await compressed() : bytes, { headers });
}

/** Compares weakly (RFC 9110, section 13.1.2), since some proxies weaken an entity tag. */
function isKnown(header: string | null, etag: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, "");
  const given = header?.split(",").map(strong) ?? [];
  return given.includes(strong(etag)) || given.includes("*");
}

/** One pattern over a stranger's long header would take quadratic time. */
const takesGzip = (header: string | null) =>
  header?.split(",").some((one) => {
    const [coding = "", weight = "q=1"] = one.split(";").map((part) => part.trim().toLowerCase());
    return coding === "gzip" && /^q=[01](?:\.\d{0,3})?$/.test(weight) && Number(weight.slice(2)) > 0;
  }) ?? false;
