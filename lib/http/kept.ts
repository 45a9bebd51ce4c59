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

export function keep(content: string | Buffer<ArrayBuffer>): Kept {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  let compressing: Promise<Buffer<ArrayBuffer>> | undefined;
  return {
    bytes,
    etag: `W/"${sha256(bytes).toString("base64url").slice(0, 22)}"`,
    compressed: () => (compressing ??= promisify(gzip)(bytes, { level: 9 })),
  };
}

/** What a client's headers say of a body: the entity tags that it knows, and the encodings that it takes. */
type Asked = { known: string | null | undefined; accepted: string | null | undefined };

/** Returns what is to be sent of a kept body, which is nothing to a client that has it already, and whether it is gzip. */
export async function choose(
  { known, accepted }: Asked,
  { bytes, etag, compressed }: Kept,
): Promise<{ bytes: Buffer<ArrayBuffer>; isGzip: boolean } | undefined> {
  if (isKnown(known, etag)) return undefined;
  return takesGzip(accepted) ? { bytes: await compressed(), isGzip: true } : { bytes, isGzip: false };
}

/** Answers with a kept body, compressed where the client takes gzip, and with 304 where it has the body already. */
export async function answerKept(
  { headers: asked }: Request,
  kept: Kept,
  given: Record<string, string>,
): Promise<Response> {
  const headers = { ...given, ETag: kept.etag, Vary: "Accept-Encoding" };
  const chosen = await choose({ known: asked.get("if-none-match"), accepted: asked.get("accept-encoding") }, kept);
  if (!chosen) return new Response(null, { status: 304, headers });
  return new Response(chosen.isGzip && declareGzip() ? chosen.bytes : kept.bytes, { headers });
}

/** Compares weakly (RFC 9110, section 13.1.2): some proxies weaken an entity tag. */
function isKnown(header: Asked["known"], etag: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, "");
  const given = header?.split(",").map(strong) ?? [];
  return given.includes(strong(etag)) || given.includes("*");
}

/** Without one pattern over the whole header, which is a stranger's and long: it would take quadratic time. */
const takesGzip = (header: Asked["accepted"]) =>
  header?.split(",").some((one) => {
    const [coding = "", weight = "q=1"] = one.split(";").map((part) => part.trim().toLowerCase());
    return coding === "gzip" && /^q=[01](?:\.\d{0,3})?$/.test(weight) && Number(weight.slice(2)) > 0;
  }) ?? false;
