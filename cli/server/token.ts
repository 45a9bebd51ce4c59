import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { findTokenServer, type Settings } from "../settings.ts";

/** The characters of a bearer token (RFC 6750, section 2.1). */
const tokenCharacters = /[\w.~+/=-]/;

/** The description never quotes the token; it is undefined for a valid one. */
export function findTokenFault(token: string): string | undefined {
  const characters = [...token];
  const at = characters.findIndex((character) => !tokenCharacters.test(character));
  if (at === -1) return undefined;
  const verb = at === 0 ? "begins with" : characters.slice(at).some(isProper) ? "contains" : "ends with";
  return `${verb} ${describeCharacter(characters[at] ?? "")}`;
}

const isProper = (character: string): boolean => tokenCharacters.test(character);

function describeCharacter(character: string): string {
  if (/[\r\n\u2028\u2029]/.test(character)) return "a line break";
  if (character === "\t") return "a tab";
  if (/\s/.test(character)) return "a space";
  if (/["'`\u2018-\u201f]/.test(character)) return "a quotation mark";
  if (/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(character)) return "an invisible character";
  return "an invalid character";
}

/**
 * `SPOOR_TOKEN` is sent only to the server in `SPOOR_URL`, or else to the one that delivered this file.
 *
 * @throws CommandError if it is for another server, or a token has invalid characters
 */
export function readToken(host: Host, settings: Settings, server: string): string | undefined {
  const given = host.env.SPOOR_TOKEN;
  if (!given) return readStoredToken(settings, server);
  const fault = findTokenFault(given);
  if (fault) {
    throw new CommandError("usage", `SPOOR_TOKEN ${fault}. Set it to the token only.`);
  }
  const owner = findTokenServer(host);
  if (owner === server) return given;
  const whose = owner ? `is for ${owner}` : "does not specify its server";
  throw new CommandError(
    "usage",
    `SPOOR_TOKEN ${whose}, so it is not sent to ${server}. Set SPOOR_URL=${server} if it is for that server, or unset SPOOR_TOKEN to use your login there.`,
  );
}

export const describeInvalidToken = ({ SPOOR_TOKEN }: Host["env"], login: string): string =>
  SPOOR_TOKEN
    ? "SPOOR_TOKEN is no longer valid. Create a new one on the server's page /devices, or unset it to use a login"
    : `The token is no longer valid. Log in again with: ${login}`;

export function readStoredToken(settings: Settings, server: string): string | undefined {
  const token = settings.accounts[server]?.token;
  if (typeof token !== "string" || token === "") return undefined;
  const fault = findTokenFault(token);
  if (fault) throw new CommandError("login", `The stored token ${fault}: the settings were changed. Log in again.`);
  return token;
}
