import { CommandError } from "../errors.ts";
import { isFields } from "../files/json.ts";
import { computeSha256 } from "../install/files.ts";
import type { Api } from "../server/api.ts";

/** The client that a server delivers (`GET /api/limits`). */
export type Release = { version: string; sha256: string; bytes: number };

const maxBytes = 32 * 1024 * 1024;

export async function readRelease(api: Api): Promise<Release | undefined> {
  const { client } = (await api.request("/api/limits")).body;
  if (!isFields(client)) return undefined;
  const { version, sha256, bytes } = client;
  if (typeof version !== "string" || typeof sha256 !== "string" || typeof bytes !== "number") return undefined;
  return /^[0-9a-f]{64}$/.test(sha256) && bytes > 0 && bytes <= maxBytes ? { version, sha256, bytes } : undefined;
}

const makeEntityTag = (bytes: Uint8Array): string =>
  `"${Buffer.from(computeSha256(bytes), "hex").toString("base64url").slice(0, 22)}"`;

/**
 * It sends no token and follows no redirect.
 *
 * @param own the current file, which is not downloaded again
 * @returns undefined if the server has the same file
 * @throws CommandError if the file differs from its description
 */
export async function downloadRelease(api: Api, release: Release, own: Uint8Array): Promise<Buffer | undefined> {
  const found = await api.download("/spoor.mjs", { "If-None-Match": makeEntityTag(own) }, release.bytes);
  if (found === "unchanged") return undefined;
  if (found === "long" || found.length !== release.bytes) {
    const size = found === "long" ? "more" : `${found.length}`;
    throw new MismatchError(api.url, `it has ${size} bytes instead of ${release.bytes}`);
  }
  if (computeSha256(found) !== release.sha256) throw new MismatchError(api.url, "its SHA-256 is another one");
  return found;
}

/** The file was tampered with or cut off, or the server is being updated itself. */
export class MismatchError extends CommandError {
  constructor(server: string, how: string) {
    const what = `${server}/spoor.mjs is not the file that the server's /api/limits describes`;
    super("failed", `${what}: ${how}. Nothing was changed.`);
  }
}

/** Compares versions (semver.org, section 11, without pre-release parts); undefined if one is invalid. */
export function compareVersions(a: string, b: string): number | undefined {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (!left || !right) return undefined;
  const difference = left.numbers.map((one, at) => one - (right.numbers[at] ?? 0)).find((one) => one !== 0);
  if (difference !== undefined) return difference;
  if (left.suffix === right.suffix) return 0;
  if (left.suffix === "" || right.suffix === "") return left.suffix === "" ? 1 : -1;
  return left.suffix < right.suffix ? -1 : 1;
}

function parseVersion(version: string): { numbers: number[]; suffix: string } | undefined {
  const [whole, major, minor, patch, suffix = ""] = /^(\d+)\.(\d+)\.(\d+)(?:-([\w.-]+))?(?:\+.*)?$/.exec(version) ?? [];
  return whole === undefined ? undefined : { numbers: [major, minor, patch].map(Number), suffix };
}
