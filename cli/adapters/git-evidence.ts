// What a session's shell calls prove about Git: the commits they made, and the pull requests they opened.
import { type Fields, isFields, parseJson } from "../files/json.ts";
import type { Message } from "./adapter.ts";
import { asCount, asString, truncate } from "./values.ts";

/** A commit that the session made. `repository` is the remote's URL that it was pushed to, where the output says so. */
export type Commit = { hash: string; repository?: string; branch?: string; subject?: string; position?: number };

/** `repository` is `OWNER/NAME`, as its host shows it. */
export type PullRequest = { number: number; url: string; repository: string };

/** A call whose result is still to come. */
type Call = "git" | "pull-request";

/** A collector as JSON. */
export type SavedEvidence = { commits: Commit[]; pullRequests: PullRequest[]; calls: [string, Call][] };

/** Of a session, so many of each are kept, */
const maxEntries = 500;
/** in so many bytes of JSON: all fields of a trace together may have 256 KiB. */
const maxBytes = 96 * 1024;
const maxCalls = 100;
const maxSubjectChars = 200;

/** Collects a session's commits and pull requests from its messages, or from commands and their outputs. */
export class GitEvidence {
  readonly #commits: Commit[];
  readonly #pullRequests: Map<string, PullRequest>;
  readonly #calls: Map<string, Call>;
  #bytes = 0;

  /** @param saved what `save` returned */
  constructor(saved?: SavedEvidence) {
    this.#commits = (saved?.commits ?? []).map((commit) => ({ ...commit }));
    this.#pullRequests = new Map(saved?.pullRequests.map((one) => [one.url, one]));
    this.#calls = new Map(saved?.calls);
    for (const one of [...this.#commits, ...this.#pullRequests.values()]) this.#bytes += bytesOf(one);
  }

  save(): SavedEvidence {
    return { commits: this.#commits, pullRequests: [...this.#pullRequests.values()], calls: [...this.#calls] };
  }

  /** The trace's fields; none where there is no evidence. */
  details(): { commits?: Commit[]; pullRequests?: PullRequest[] } {
    return {
      ...(this.#commits.length > 0 && { commits: this.#commits }),
      ...(this.#pullRequests.size > 0 && { pullRequests: [...this.#pullRequests.values()] }),
    };
  }

  /** Looks at a message of the session, in order: at a tool's call, its result, or both in one. */
  see({ content, metadata }: Message, position: number): void {
    if (!metadata) return;
    const { tool, result } = metadata;
    if (isFields(tool)) this.#seeCall(tool, content, position);
    if (!isFields(result)) return;
    const id = asString(result.callId) ?? "";
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    this.#read(call, asString(result.output) ?? content, position);
  }

  #seeCall(tool: Fields, content: string, position: number): void {
    const call = callOf(tool);
    if (!call) return;
    const output = asString(tool.output) ?? (tool.content === "call" ? undefined : asString(content));
    if (output !== undefined) this.#read(call, output, position);
    const id = asString(tool.callId);
    if (output !== undefined || id === undefined) return;
    this.#calls.set(id, call);
    if (this.#calls.size > maxCalls) this.#calls.delete(this.#calls.keys().next().value ?? "");
  }

  /** Reads what a shell command printed. @param position of the message that holds the output */
  addOutput(command: string, output: string, position?: number): void {
    if (isGitCommand(command)) this.#read("git", output, position);
  }

  #read(call: Call, output: string, position: number | undefined): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's colors begin with this character
    const lines = output.replace(/\u001b\[[\d;]*m/g, "").split(/\r?\n/);
    if (call === "git") {
      for (const commit of commitsIn(lines)) this.addCommit(position === undefined ? commit : { ...commit, position });
      this.#readPushes(lines);
    }
    for (const [url] of output.matchAll(pullRequestUrl)) this.addPullRequest({ url });
  }

  /** A push names the last commit's hash and the remote that has it now. */
  #readPushes(lines: string[]): void {
    let remote: string | undefined;
    for (const line of lines) {
      const [, to] = /^To (\S+)$/.exec(line) ?? [];
      if (to) remote = publicRemote(to);
      const [, pushed] = /^ [ +*] ?[0-9a-f]{7,64}\.{2,3}([0-9a-f]{7,64}) +\S+ -> \S/.exec(line) ?? [];
      const commit = pushed && remote ? this.#find(pushed) : undefined;
      if (commit && remote) commit.repository ??= remote;
    }
  }

  /** A commit by its hash, or by a shorter or longer form of it. */
  #find(hash: string): Commit | undefined {
    return this.#commits.find((known) => known.hash.startsWith(hash) || hash.startsWith(known.hash));
  }

  /** Adds a commit that an agent recorded itself; one that is known keeps its longest hash. */
  addCommit(commit: Commit): void {
    const hash = /^[0-9a-f]{7,64}$/i.test(commit.hash) ? commit.hash.toLowerCase() : undefined;
    if (!hash) return;
    const known = this.#find(hash);
    if (known) {
      const { hash: shorter, ...rest } = known;
      Object.assign(known, { ...commit, ...rest, hash: hash.length > shorter.length ? hash : shorter });
      return;
    }
    const added = { ...commit, hash };
    if (this.#commits.length < maxEntries && this.#hasRoom(added)) this.#commits.push(added);
  }

  /** Adds a pull request, once by its URL. Values that are no such URL are ignored. */
  addPullRequest({ url, number, repository }: { url: unknown; number?: unknown; repository?: unknown }): void {
    const [whole, host, path, digits] = pullRequestParts.exec(asString(url) ?? "") ?? [];
    if (whole === undefined || host === undefined || path === undefined) return;
    const plain = `https://${host}${whole.slice(whole.indexOf(`/${path}`))}`;
    if (this.#pullRequests.has(plain) || this.#pullRequests.size >= maxEntries) return;
    const added = {
      number: asCount(number) ?? Number(digits),
      url: plain,
      repository: truncate(asString(repository) ?? path, 256),
    };
    if (this.#hasRoom(added)) this.#pullRequests.set(plain, added);
  }

  #hasRoom(entry: Commit | PullRequest): boolean {
    const bytes = this.#bytes + bytesOf(entry);
    if (bytes > maxBytes) return false;
    this.#bytes = bytes;
    return true;
  }
}

const bytesOf = (entry: object): number => Buffer.byteLength(JSON.stringify(entry)) + 1;

/** GitHub's pull requests and GitLab's merge requests, also on hosts of one's own. */
const pullRequest = String.raw`https?:\/\/(?:[^\s/@"']*@)?([\w.-]+(?::\d+)?)\/((?:[\w.~-]+\/)+?[\w.~-]+)\/(?:pull|-\/merge_requests)\/(\d{1,15})\b`;
const pullRequestUrl = new RegExp(pullRequest, "g");
const pullRequestParts = new RegExp(`^${pullRequest}`);

// No alternatives below match the same text: a command of any shape is matched in linear time.
/** Settings before a command. */
const settings = String.raw`(?:\w+=(?:"[^"]*"|'[^']*'|[^\s"']\S*|)\s+)*`;
/** Where a command begins: at the start, after an operator or a keyword, or inside `bash -lc "…"`. */
const commandStart = String.raw`(?:^|[;&|({\n\u0060]|\b(?:then|do|else|sudo|time|command)\s|\s-\w*c\s+['"])[ \t]*${settings}`;
/** The options before Git's command, of which some take a value. */
const valued = String.raw`(?:-[Cc]|--(?:git-dir|work-tree|namespace))\s`;
const gitOptions = String.raw`(?:${valued}+(?:"[^"]*"|'[^']*'|[^\s"']\S*)\s+|(?!${valued})-\S+\s+)*`;
/** Git's commands that print the commit they made, or where it was pushed; and those that open a pull request. */
const gitCommand = new RegExp(
  String.raw`${commandStart}(?:(?:"[^"\n]*[\\/]|[\w.~:\\/-]*[\\/])?git(?:\.exe)?"?\s+${gitOptions}(?:commit|cherry-pick|revert|push)|gh\s+pr\s+create|glab\s+mr\s+create)(?![\w-])`,
);

/** So much of a command is searched. */
const maxCommandChars = 64 * 1024;

/** Whether a shell command commits, pushes, or opens a pull request. */
const isGitCommand = (command: string): boolean =>
  /\b(?:git|gh|glab)\b/.test(command) && gitCommand.test(command.slice(0, maxCommandChars));

/** The names of a shell command among the inputs that agents give to their tools. */
const commandKeys = ["command", "cmd", "script", "commands", "CommandLine", "input"];

function callOf({ name, input }: Fields): Call | undefined {
  if (/(?:^|[_.-])create_(?:pull|merge)_request$/.test(asString(name) ?? "")) return "pull-request";
  const fields = typeof input === "string" ? parseJson(input) : input;
  if (!isFields(fields)) return typeof input === "string" && isGitCommand(input) ? "git" : undefined;
  return commandKeys.some((key) => commandsIn(fields[key]).some(isGitCommand)) ? "git" : undefined;
}

/** A command as text: of a list, its parts in one line, and each of them. */
function commandsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) return [];
  const texts = value.filter((part) => typeof part === "string");
  return [texts.join(" "), ...texts];
}

/**
 * The commits in what Git printed: `[BRANCH HASH] SUBJECT`, for the first one of a repository `[BRANCH (root-commit) HASH] …`,
 * without a branch `[detached HEAD HASH] …` (both in Git's language).
 */
function* commitsIn(lines: string[]): Generator<Commit> {
  for (const [index, line] of lines.entries()) {
    const [, place = "", hash, subject = ""] =
      /^\[(\S+|[^\]]*\bHEAD\b[^\]]*?)(?: \([^)]+\))? ([0-9a-f]{7,64})\](?: (.*))?$/.exec(line) ?? [];
    if (hash === undefined) continue;
    // Only digits may as well be a process or a time in a hook's output.
    if (!/[a-f]/.test(hash) && !isStatistics(lines[index + 1])) continue;
    const branch = /\s/.test(place) || place === "HEAD" ? undefined : truncate(place, 256);
    const words = truncate(subject.trim(), maxSubjectChars);
    yield { hash, ...(branch && { branch }), ...(words && { subject: words }) };
  }
}

/** Whether a line is what Git prints below a commit. */
const isStatistics = (line = ""): boolean => /^ (?:\d+ \S+ |(?:Date|Author|Committer): )/.test(line);

/** A remote's URL without user name, password and query; undefined for anything but a text. */
export function publicRemote(url: unknown): string | undefined {
  const text = asString(url)?.trim();
  if (!text) return undefined;
  const [, scheme, rest = ""] = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/i.exec(text) ?? [];
  if (scheme !== undefined) {
    const [authority = "", ...path] = rest.replace(/[?#].*$/, "").split("/");
    return truncate([scheme + authority.replace(/^.*@/, ""), ...path].join("/"), 2048);
  }
  // git@host:path names no secret, and user:password@host:path is no remote.
  return truncate(text.replace(/^[^@/]*:[^@/]*@/, ""), 2048);
}
