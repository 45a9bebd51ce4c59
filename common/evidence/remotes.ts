import { plainText } from "#common/evidence/text";

/** `repository` is the path on the host: `OWNER/NAME`, or deeper groups on GitLab. */
export type PullRequest = { number: number; url: string; repository: string };

const maxNumber = 2_147_483_647;

/** A deeper path on GitHub is another page. */
const pullRequest =
  /^https?:\/\/(?:[^\s/@"']*@)?([\w.-]{1,255}(?::\d{1,5})?)\/(?:([\w.~-]+\/[\w.~-]+)\/(pull)|((?:[\w.~-]+\/)+?[\w.~-]+)\/(-\/merge_requests))\/(\d{1,10})\b/;

export function pullRequestAt(url: unknown): PullRequest | undefined {
  const found = pullRequest.exec(typeof url === "string" ? url.slice(0, 2048) : "") ?? [];
  const [, host, repository = found[4] ?? "", kind = found[5], , , digits] = found;
  const number = Number(digits);
  if (!host || repository.length > 256 || !(number >= 1 && number <= maxNumber)) return undefined;
  return { number, url: `https://${host.toLowerCase()}/${repository}/${kind}/${number}`, repository };
}

/** People write a URL, `OWNER/NAME#12` (or `!12`), or the number (`12`, `#12`). */
export type PullRequestName = Partial<PullRequest> & { number: number };

export function readPullRequestName(text: string): PullRequestName | undefined {
  if (/^https?:/i.test(text)) return pullRequestAt(text);
  const [, repository, digits] = /^(?:([\w.~-]+(?:\/[\w.~-]+)+)[#!]|[#!]?)(\d{1,10})$/.exec(text.slice(0, 512)) ?? [];
  const number = Number(digits);
  if (!(number >= 1 && number <= maxNumber)) return undefined;
  return repository === undefined ? { number } : { repository, number };
}

/** No remote's URL is longer, and removing secrets from longer text takes quadratic time. */
export const maxRemoteChars = 2048;

/** Removes user name, password and query; undefined for anything but a URL. */
export function publicRemote(url: unknown): string | undefined {
  const text = typeof url === "string" && url.length <= maxRemoteChars ? url.trim() : "";
  if (text === "") return undefined;
  const [, scheme, rest = ""] = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/i.exec(text) ?? [];
  if (scheme !== undefined) {
    const [authority = "", ...path] = rest.replace(/[?#].*$/, "").split("/");
    return plainText([scheme + authority.replace(/^.*@/, ""), ...path].join("/"), maxRemoteChars);
  }
  // git@host:path has no secret, and user:password@host:path is not a remote.
  return plainText(text.replace(/^[^@/]*:[^@/]*@/, ""), maxRemoteChars);
}

const hosts: Record<string, string> = {
  "github.com": "commit",
  "gitlab.com": "-/commit",
  "codeberg.org": "commit",
  "bitbucket.org": "commits",
};

export function commitPage(remote: string | null | undefined, hash: string): string | undefined {
  const [, host = "", path] =
    /^(?:(?:https?|ssh|git):\/\/(?:[^@/]*@)?|[\w.-]+@)([\w.-]{1,255})(?::\d{1,5}(?=\/))?[:/]([\w.~/-]+?)(?:\.git)?\/?$/.exec(
      remote?.slice(0, 2048) ?? "",
    ) ?? [];
  const kind = Object.hasOwn(hosts, host) ? hosts[host] : undefined;
  return kind && path && /^[^/]+(?:\/[^/]+)+$/.test(path) ? `https://${host}/${path}/${kind}/${hash}` : undefined;
}
