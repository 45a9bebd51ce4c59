/** SSH hosts (for another port) that differ from the web hosts. */
const sameHosts: Record<string, string> = {
  "ssh.github.com": "github.com",
  "www.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
  "altssh.bitbucket.org": "bitbucket.org",
  "ssh.dev.azure.com": "dev.azure.com",
};

/** Hosts that ignore the case of `Owner/Name`. */
const caseless = new Set(["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com"]);

export type Remote = { value: string; name: string };

/** Keeps only host and path, never credentials. @returns undefined if it names no host */
export function parseRemote(url: unknown): Remote | undefined {
  if (typeof url !== "string" || url.length > 2048) return undefined;
  const parts = splitRemote(url.trim());
  if (!parts) return undefined;
  const host = parseHost(parts.authority);
  const path = parseRemotePath(host ?? "", parts.path);
  const name = path?.at(-1);
  if (!host || !path || !name) return undefined;
  const joined = path.join("/");
  return { value: `${host}/${caseless.has(host) ? joined.toLowerCase() : joined}`, name };
}

type Parts = { authority: string; path: string };

function splitRemote(url: string): Parts | undefined {
  if (/[\s\p{Cc}]/u.test(url)) return undefined;
  const [, scheme, rest = ""] = /^(?:git\+)?([a-z][a-z\d+.-]*):\/\/(.*)$/i.exec(url) ?? [];
  if (scheme !== undefined) {
    if (!/^(?:ssh|git|https?|ftps?|svn\+ssh)$/i.test(scheme)) return undefined;
    const [, authority = "", path = ""] = /^([^/?#]*)([^?#]*)/.exec(rest) ?? [];
    return { authority, path };
  }
  const [, authority = "", path] = /^((?:[^/]*@)?(?:\[[^\]/]*\]|[^/:@[\]]+)):(?!\/\/)(.*)$/.exec(url) ?? [];
  if (path !== undefined) return isDrive(authority) ? undefined : { authority, path: path.replace(/[?#].*$/, "") };
  const [, host, bare] = /^((?:[^/@]*@)?[a-z\d-]+(?:\.[a-z\d-]+)+)(\/[^?#]+\/[^?#]+)/i.exec(url) ?? [];
  return host && bare ? { authority: host, path: bare } : undefined;
}

const isDrive = (authority: string) => /^[a-z]$/i.test(authority);

function parseHost(authority: string): string | undefined {
  const [, host] = /^(?:.*@)?(\[[\da-f:.]+\]|[^\s:@[\]]+)(?::\d*)?$/i.exec(authority) ?? [];
  const name = host?.toLowerCase().replace(/\.+$/, "");
  return name && Object.hasOwn(sameHosts, name) ? sameHosts[name] : name || undefined;
}

function parseRemotePath(host: string, path: string): string[] | undefined {
  const written = path.replace(/\/+$/, "").replace(/\.git$/i, "");
  const parts = written.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return undefined;
  if (host !== "dev.azure.com") return parts;
  return parts.filter((part, index) => !(part === "_git" && index > 0) && !(part === "v3" && index === 0));
}
