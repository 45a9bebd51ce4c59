// The files that a built application has for everybody. Next would read and compress them for every reader, and answer a range that a
// file does not have with 500.
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, sep } from "node:path";
import { iconsCacheControl } from "#lib/http/headers";
import { choose, type Kept, keep } from "#lib/http/kept";

const types: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};

/** The files of pages and those of `public/`, by their paths. Each is read and compressed once, when it is first asked for. */
export class StaticFiles {
  readonly #places: ReadonlyMap<string, string>;
  readonly #kept = new Map<string, Promise<Kept>>();

  constructor(places: Iterable<[path: string, place: string]> = []) {
    this.#places = new Map(places);
  }

  has(path: string): boolean {
    return this.#places.has(path);
  }

  /** Sends the file of a path, whole: a range may be ignored (RFC 9110, section 14.2). @returns false where Next has to */
  async send(path: string, { method, headers }: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const type = types[extname(path)];
    const kept = type && (await this.#read(path));
    if (!kept) return false;
    const chosen = await choose({ known: headers["if-none-match"], accepted: headers["accept-encoding"] }, kept);
    response.setHeader("Cache-Control", cacheControlOf(path));
    response.setHeader("ETag", kept.etag);
    response.setHeader("Vary", "Accept-Encoding");
    if (!chosen) {
      response.writeHead(304).end();
      return true;
    }
    if (chosen.isGzip) response.setHeader("Content-Encoding", "gzip");
    response.writeHead(200, { "Content-Type": type, "Content-Length": chosen.bytes.length });
    response.end(method === "HEAD" ? undefined : chosen.bytes);
    return true;
  }

  #read(path: string): Promise<Kept | undefined> {
    const place = this.#places.get(path) ?? "";
    const reading = this.#kept.get(path) ?? readFile(/* turbopackIgnore: true */ place).then(keep);
    this.#kept.set(path, reading);
    return reading.catch(() => {
      this.#kept.delete(path);
      return undefined;
    });
  }
}

/** The scripts and styles of a build have names of their own. */
function cacheControlOf(path: string): string {
  if (path.startsWith("/_next/")) return "public, max-age=31536000, immutable";
  return path === "/agents.svg" ? iconsCacheControl : "public, max-age=0";
}

export async function readStaticFiles(): Promise<StaticFiles> {
  const found = await Promise.all([filesIn(".next/static", "/_next/static/"), filesIn("public", "/")]);
  return new StaticFiles(found.flat());
}

async function filesIn(folder: string, path: string): Promise<[path: string, place: string][]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []); // a host may serve them by itself
  return names.map((name) => [path + name.replaceAll(sep, "/"), join(folder, name)]);
}
