import { type Act, actsOfCommand, readActs } from "../../common/evidence/commands.ts";
import { findCommit, joinCommits, type Commit as Made, proofIn, withHash } from "../../common/evidence/output.ts";
import { type PullRequest, pullRequestAt } from "../../common/evidence/remotes.ts";
import { type Fields, isFields } from "../files/json.ts";
import type { Message } from "./adapter.ts";
import { asCount, asString, dropOldest, truncate } from "./values.ts";

type EvidenceCommit = Made & { position?: number };

export type SavedEvidence = { commits: EvidenceCommit[]; pullRequests: PullRequest[]; calls: [string, Act[]][] };

const maxEntries = 500;
/** All fields of a trace together may have 256 KiB. */
const maxBytes = 96 * 1024;
const maxCalls = 100;

export class GitEvidence {
  readonly #commits: EvidenceCommit[];
  readonly #pullRequests: Map<string, PullRequest>;
  readonly #calls: Map<string, Act[]>;
  #bytes = 0;

  constructor(saved?: SavedEvidence) {
    this.#commits = (saved?.commits ?? []).map((commit) => ({ ...commit }));
    this.#pullRequests = new Map(saved?.pullRequests.map((one) => [one.url, one]));
    this.#calls = new Map(saved?.calls.filter(([, acts]) => Array.isArray(acts)));
    for (const one of [...this.#commits, ...this.#pullRequests.values()]) this.#bytes += countBytes(one);
  }

  save(): SavedEvidence {
    return { commits: this.#commits, pullRequests: [...this.#pullRequests.values()], calls: [...this.#calls] };
  }

  details(): { commits?: EvidenceCommit[]; pullRequests?: PullRequest[] } {
    return {
      ...(this.#commits.length > 0 && { commits: this.#commits }),
      ...(this.#pullRequests.size > 0 && { pullRequests: [...this.#pullRequests.values()] }),
    };
  }

  /**
   * Messages must come in order. A copied result's output belongs to the original, but a copied call may have its
   * result here.
   */
  see({ content, metadata }: Message, position: number, isCopied = false): void {
    if (!metadata) return;
    const { tool, result } = metadata;
    if (isFields(tool)) this.#seeCall(tool, content, position, isCopied);
    if (!isFields(result)) return;
    const id = asString(result.callId) ?? "";
    const acts = this.#calls.get(id);
    if (!acts) return;
    this.#calls.delete(id);
    if (!isCopied) this.#read(acts, asString(result.output) ?? content, position, result.isError === true);
  }

  #seeCall(tool: Fields, content: string, position: number, isCopied: boolean): void {
    const acts = readActs(asString(tool.name) ?? "", tool.input);
    if (acts.length === 0) return;
    const output = asString(tool.output) ?? (tool.content === "call" ? undefined : asString(content));
    if (output !== undefined && !isCopied) this.#read(acts, output, position);
    const id = asString(tool.callId);
    if (output !== undefined || id === undefined) return;
    this.#calls.set(id, acts);
    dropOldest(this.#calls, maxCalls);
  }

  addOutput(command: string, output: string, position?: number): void {
    const acts = actsOfCommand(command);
    if (acts.length > 0) this.#read(acts, output, position);
  }

  #read(acts: Act[], output: string, position: number | undefined, failed = false): void {
    const { commits, pushes, pullRequests } = proofIn(acts, output, failed);
    for (const commit of commits) this.addCommit(position === undefined ? commit : { ...commit, position });
    for (const { hash, repository } of pushes) {
      const commit = findCommit(this.#commits, hash);
      if (commit) commit.repository ??= repository;
    }
    for (const { url } of pullRequests) this.addPullRequest({ url });
  }

  addCommit(commit: EvidenceCommit): void {
    const added = withHash(commit);
    const known = added && findCommit(this.#commits, added.hash);
    if (known) Object.assign(known, { ...added, ...joinCommits(known, added) });
    else if (added && this.#commits.length < maxEntries && this.#hasRoom(added)) this.#commits.push(added);
  }

  addPullRequest({ url, number, repository }: { url: unknown; number?: unknown; repository?: unknown }): void {
    const found = pullRequestAt(url);
    if (!found || this.#pullRequests.has(found.url) || this.#pullRequests.size >= maxEntries) return;
    const added = {
      number: asCount(number) ?? found.number,
      url: found.url,
      repository: truncate(asString(repository) ?? found.repository, 256),
    };
    if (this.#hasRoom(added)) this.#pullRequests.set(found.url, added);
  }

  #hasRoom(entry: EvidenceCommit | PullRequest): boolean {
    const bytes = this.#bytes + countBytes(entry);
    if (bytes > maxBytes) return false;
    this.#bytes = bytes;
    return true;
  }
}

const countBytes = (entry: object): number => Buffer.byteLength(JSON.stringify(entry)) + 1;
