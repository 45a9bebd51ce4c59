// Addresses of Git's hosts.
import { plainText } from "#lib/evidence/text";

/** A pull request, or GitLab's merge request. `repository` is its path on the host: `OWNER/NAME`, also of deeper groups. */
export type PullRequest = { number: number; url: string; repository: string };

const maxNumber = 2_147_483_647;

/**
 * GitHub's pull requests, of OWNER/NAME, and GitLab's merge requests, of groups as deep as they are; also on hosts of one's own. What
 * is deeper on GitHub is another page, such as the one on which a branch `pull/12` could be proposed.
 */
const pullRequest =
  /^https?:\/\/(?:[^\s/@"']*@)?([\w.-]{1,255}(?::\d{1,5})?)\/(?:([\w.~-]+\/[\w.~-]+)\/(pull)|((?:[\w.~-]+\/)+?[\w.~-]+)\/(-\/merge_requests))\/(\d{1,10})\b/;

/** The pull request at an address, which may go on after its number; undefined for anything else. */
export function pullRequestAt(url: unknown): PullRequest | undefined {
  const found = pullRequest.exec(typeof url === "string" ? url.slice(0, 2048) : "") ?? [];
  const [, host, repository = found[4] ?? "", kind = found[5], , , digits] = found;
  const number = Number(digits);
  if (!host || repository.length > 256 || !(number >= 1 && number <= maxNumber)) return undefined;
  return { number, url: `https://${host.toLowerCase()}/${repository}/${kind}/${number}`, repository };
}

/** What a person calls a pull request: its URL, `OWNER/NAME#12` (or `!12`), or its number (`12`, `#12`) alone. */
export type PullRequestName = Partial<PullRequest> & { number: number };

/** Reads such a name; undefined for any other text. */
export function readPullRequestName(text: string): PullRequestName | undefined {
  if (/^https?:/i.test(text)) return pullRequestAt(text);
  const [, repository, digits] = /^(?:([\w.~-]+(?:\/[\w.~-]+)+)[#!]|[#!]?)(\d{1,10})$/.exec(text.slice(0, 512)) ?? [];
  const number = Number(digits);
  if (!(number >= 1 && number <= maxNumber)) return undefined;
  return repository === undefined ? { number } : { repository, number };
}

/** No remote's URL is longer. To take the secrets out of a longer text would take a time that grows with the square of its length. */
export const maxRemoteChars = 2048;

/** A remote's URL without user name, password and query; undefined for anything but a text of its length. */
export function publicRemote(url: unknown): string | undefined {
  const text = typeof url === "string" && url.length <= maxRemoteChars ? url.trim() : "";
  if (text === "") return undefined;
  const [, scheme, rest = ""] = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/i.exec(text) ?? [];
  if (scheme !== undefined) {
    const [authority = "", ...path] = rest.replace(/[?#].*$/, "").split("/");
    return plainText([scheme + authority.replace(/^.*@/, ""), ...path].join("/"), maxRemoteChars);
  }
  // git@host:path names no secret, and user:password@host:path is no remote.
  return plainText(text.replace(/^[^@/]*:[^@/]*@/, ""), maxRemoteChars);
}

const hosts: Record<string, string> = {
  "github.com": "commit",
  "gitlab.com": "-/commit",
  "codeberg.org": "commit",
  "bitbucket.org": "commits",
};

/** The page of a commit on a well-known host; undefined for any other remote. */
export function commitPage(remote: string | null | undefined, hash: string): string | undefined {
  const [, host = "", path] =
    /^(?:(?:https?|ssh|git):\/\/(?:[^@/]*@)?|[\w.-]+@)([\w.-]{1,255})(?::\d{1,5}(?=\/))?[:/]([\w.~/-]+?)(?:\.git)?\/?$/.exec(
      remote?.slice(0, 2048) ?? "",
    ) ?? [];
  const kind = Object.hasOwn(hosts, host) ? hosts[host] : undefined;
  return kind && path && /^[^/]+(?:\/[^/]+)+$/.test(path) ? `https://${host}/${path}/${kind}/${hash}` : undefined;
}
