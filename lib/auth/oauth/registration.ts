// Registration stores nothing, since anybody may register: a client's id contains what it registered, signed by this
// server.
import "server-only";
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { OauthError } from "#lib/auth/oauth/protocol";
import { requiredEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";

/** Unverified. */
export type OauthClient = { id: string; name: string; redirectUris: string[] };

const { nameCharacters, redirectUris, redirectUriCharacters, clientIdBytes } = limits.oauth;

/** RFC 7591, section 2. Clients are public, and get no secret whatever they ask for. */
const metadata = z.object({
  client_name: z.string().trim().max(1000).optional(),
  redirect_uris: z.array(z.string().max(redirectUriCharacters)).min(1).max(redirectUris),
});

/**
 * @param sent the JSON of RFC 7591, section 3.1
 */
export function registerClient(sent: unknown): OauthClient {
  const parsed = metadata.safeParse(sent);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const isUri = issue?.path[0] === "redirect_uris";
    throw new OauthError(
      isUri ? "invalid_redirect_uri" : "invalid_client_metadata",
      `${issue?.path.join(".")}: ${issue?.message}`,
    );
  }
  const { client_name = "", redirect_uris } = parsed.data;
  const wrong = redirect_uris.find((uri) => !isRedirectUri(uri));
  if (wrong !== undefined)
    throw new OauthError(
      "invalid_redirect_uri",
      "A redirect URI must be https, http on this machine, or have an application's scheme, such as com.example.app:/callback.",
    );
  const name = readClientName(client_name);
  const id = seal({ name, uris: redirect_uris, at: Math.floor(Date.now() / 1000) });
  if (id.length > clientIdBytes) throw new OauthError("invalid_client_metadata", "The metadata is too long.");
  return { id, name, redirectUris: redirect_uris };
}

/** @throws OauthError `invalid_client` for an id that this server did not issue */
export function readClient(id: string | null | undefined): OauthClient {
  const found = id && id.length <= clientIdBytes ? open(id) : undefined;
  if (!id || !found) throw new OauthError("invalid_client", "This client is not registered here. Register it again.");
  return { id, name: found.name, redirectUris: found.uris };
}

function readClientName(text: string): string {
  const name = text
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, "")
    .trim()
    .slice(0, nameCharacters)
    .trim();
  return name === "" ? "Unnamed agent" : name;
}

const loopback = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/;
/**
 * A private-use scheme is a reversed domain name; others, such as `search-ms` and `smb`, start programs of the system,
 * and so do the two excluded ones.
 */
const ownScheme = /^(?!x-apple\.|microsoft\.)[a-z][a-z\d-]*(?:\.[a-z\d-]+)+:$/;
const knownScheme =
  /^(?:vscode(?:-insiders)?|vscodium|code-oss|cursor|windsurf(?:-next)?|zed|kiro|trae|antigravity|positron|jetbrains|claude|goose|warp):$/;

/** A URI that already contains a part of an answer could fake a decision. */
const ofAnswers = ["code", "state", "iss", "error", "error_description"];

/** RFC 8252, sections 7.1 to 7.3. A query can tell an editor to install a server or run a command. */
export function isRedirectUri(uri: string): boolean {
  if (/[\p{C}\s\\#]/u.test(uri) || !URL.canParse(uri)) return false;
  const { protocol, hostname, username, password, searchParams } = new URL(uri);
  if (username || password || ofAnswers.some((name) => searchParams.has(name))) return false;
  if (protocol === "https:") return hostname !== "";
  if (protocol === "http:") return loopback.test(hostname);
  const isOwn = ownScheme.test(protocol) || knownScheme.test(protocol);
  return isOwn && !uri.includes("?") && uri.toLowerCase().startsWith(`${protocol}/`);
}

/** Exact match, except for the port on the client's own machine (RFC 8252, section 7.3). */
export function hasRedirectUri({ redirectUris: known }: OauthClient, uri: string): boolean {
  return isRedirectUri(uri) && known.some((one) => one === uri || withoutPort(one) === withoutPort(uri));
}

function withoutPort(uri: string): string {
  const url = new URL(uri);
  if (url.protocol === "http:" && loopback.test(url.hostname)) url.port = "";
  return url.href;
}

type SealedClient = { name: string; uris: string[]; at: number };

const mac = (text: string) =>
  createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`oauth-client:${text}`).digest().subarray(0, 16);

function seal(client: SealedClient): string {
  const text = Buffer.from(JSON.stringify(client)).toString("base64url");
  return `${text}.${mac(text).toString("base64url")}`;
}

function open(id: string): SealedClient | undefined {
  const [text = "", mark = ""] = id.split(".");
  const [given, expected] = [Buffer.from(mark, "base64url"), mac(text)];
  if (id !== `${text}.${mark}` || given.length !== expected.length || !timingSafeEqual(given, expected))
    return undefined;
  return JSON.parse(Buffer.from(text, "base64url").toString());
}
