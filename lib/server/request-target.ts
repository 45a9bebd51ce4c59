import type { IncomingMessage } from "node:http";

/**
 * Gives a request for a whole URL the path and the Host that it means (RFC 9112, section 3.2.2), letter by letter: what is wrong with
 * them is refused as elsewhere. Next would redirect to the URL. One of another scheme, or without a host, stays as it is.
 */
export function toOriginForm(request: IncomingMessage): void {
  const [, host, rest = ""] = /^https?:\/\/(?:[^/?#@]*@)?([^/?#@]+)(.*)$/i.exec(request.url ?? "") ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
}

/** Names are shorter, and what is stored of one is (lib/auth/audit.ts). */
const maxAgentCharacters = 512;

/** Shortens `User-Agent`: Next looks in it for robots at every page, in a time that grows with the square of its length. */
export function cutUserAgent({ headers }: IncomingMessage): void {
  const agent = headers["user-agent"];
  if (agent !== undefined) headers["user-agent"] = agent.slice(0, maxAgentCharacters);
}
