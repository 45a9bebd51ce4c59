import { type Act, actsOfCommand, commandsOfScript, outputsOfScript, readActs } from "#common/evidence/commands";
import {
  type Commit,
  findCommit,
  joinCommits,
  type Proof,
  parseBranch,
  parseHash,
  proofIn,
} from "#common/evidence/output";
import { publicRemote, pullRequestAt } from "#common/evidence/remotes";
import { type Fields, isFields, plainText } from "#common/evidence/text";
import type { TraceBranch, TraceCommit, TracePullRequest } from "#lib/generated/prisma/client";
import type { LedgerMessage, LedgerTrace } from "#lib/ledger/part";
import type { Call, MessagePiece, ToolResult } from "#lib/transcript/call";
import { splitPieces } from "#lib/transcript/kind";
import { readTranscript } from "#lib/transcript/markers";

type Evidence = Act | "message" | "session-meta" | "pr-link" | "client";

type EvidenceFields<Row> = Omit<Row, "userId" | "traceId" | "evidence" | "counted"> & { evidence: Evidence };
export type BranchRow = EvidenceFields<TraceBranch>;
export type CommitRow = EvidenceFields<TraceCommit>;
export type PullRequestRow = EvidenceFields<TracePullRequest>;

type Proven = { position: number | null; evidence: Evidence; replayed?: boolean; at?: Date | null };

const maxRows = 500;
const maxSubjectChars = 200;
const maxOpen = 100;

/** Keeps each finding once: the first evidence wins, and evidence that was not copied wins over copied. */
export class Findings {
  readonly branches = new Map<string, BranchRow>();
  readonly commits: CommitRow[] = [];
  readonly pullRequests = new Map<string, PullRequestRow>();
  readonly pushes: Proof["pushes"] = [];

  addBranch(name: unknown, position: number | null, evidence: Evidence): void {
    const branch = parseBranch(name);
    if (branch && !this.branches.has(branch) && this.branches.size < maxRows)
      this.branches.set(branch, { branch, position, evidence });
  }

  addCommit(commit: Commit, { position, evidence, replayed = false }: Proven): void {
    if (!replayed) this.addBranch(commit.branch, position, evidence);
    const known = findCommit(this.commits, commit.hash);
    if (known) {
      Object.assign(known, joinCommits<Commit>(toCommit(known), commit));
      // The commit at a session's start says nothing about who made it.
      if (known.replayed && !replayed && evidence !== "session-meta")
        Object.assign(known, { position, evidence, replayed });
    } else if (this.commits.length < maxRows) {
      const { hash, repository = null, branch = null, subject = null } = commit;
      this.commits.push({ hash, repository, branch, subject, position, evidence, replayed });
    }
  }

  addPullRequest(url: unknown, { position, evidence, replayed = false, at = null }: Proven): void {
    const found = pullRequestAt(url);
    if (!found) return;
    const known = this.pullRequests.get(found.url);
    if (known ? known.replayed && !replayed : this.pullRequests.size < maxRows)
      this.pullRequests.set(found.url, { ...found, position, evidence, replayed, at });
  }

  addPush(push: Proof["pushes"][number]): void {
    const commit = findCommit(this.commits, push.hash);
    if (commit) commit.repository ??= push.repository;
  }
}

export const toCommit = ({
  hash,
  repository,
  branch,
  subject,
}: Pick<CommitRow, "hash" | "repository" | "branch" | "subject">): Commit => ({
  hash,
  ...(repository !== null && { repository }),
  ...(branch !== null && { branch }),
  ...(subject !== null && { subject }),
});

type OpenCall = { position: number; acts: Act[]; isScript: boolean };

export class EvidenceReading {
  readonly findings = new Findings();
  readonly #open = new Map<string, OpenCall>();
  /** A call without an id; its result is the next message. */
  #adjacent: OpenCall | undefined;
  #seen: { replayed: boolean; at: Date | null } = { replayed: false, at: null };

  see(message: LedgerMessage): void {
    const { metadata, position } = message;
    this.#seen = { replayed: metadata?.replayed === true, at: message.createdAt };
    if (metadata) this.#seeRecords(metadata, position);
    if (metadata || this.#isOpen || mentionsGit(message.content)) this.#seePieces(message, position);
  }

  openFrom(): number | undefined {
    const positions = [...this.#open.values(), ...(this.#adjacent ? [this.#adjacent] : [])].map(
      ({ position }) => position,
    );
    return positions.length > 0 ? Math.min(...positions) : undefined;
  }

  get #isOpen(): boolean {
    return this.#open.size > 0 || this.#adjacent !== undefined;
  }

  #seeRecords(metadata: Fields, position: number): void {
    const { findings } = this;
    const proof = { position, ...this.#seen };
    if (!proof.replayed) {
      findings.addBranch(metadata.branch ?? metadata.gitBranch, position, "message");
      const payload = isFields(metadata.payload) ? metadata.payload : metadata;
      readGit(payload.git, position, findings);
    }
    if (metadata.type === "pr-link") findings.addPullRequest(metadata.prUrl, { ...proof, evidence: "pr-link" });
    const told = isFields(metadata.toolUseResult) ? metadata.toolUseResult.gitOperation : undefined;
    if (!isFields(told)) return;
    const { commit, pr } = told;
    const hash = isFields(commit) ? parseHash(commit.sha) : undefined;
    const branch = isFields(commit) ? parseBranch(commit.branch) : undefined;
    if (hash) findings.addCommit({ hash, ...(branch && { branch }) }, { ...proof, evidence: "git-commit" });
    if (isFields(pr) && pr.action === "created")
      findings.addPullRequest(pr.url, { ...proof, evidence: "gh-pr-create" });
  }

  #seePieces(message: Pick<LedgerMessage, "role" | "content" | "metadata">, position: number): void {
    const pieces = splitPieces({ ...message, position, tokenCount: null, createdAt: null });
    for (const piece of pieces) this.#seePiece(piece, position);
  }

  #seePiece(piece: MessagePiece, position: number): void {
    switch (piece.type) {
      case "call":
        this.#seeCall(piece.call, piece.result, position);
        break;
      case "result": {
        const { callId } = piece.result;
        const call = callId === undefined ? this.#adjacent : this.#open.get(callId);
        if (callId === undefined) this.#adjacent = undefined;
        else this.#open.delete(callId);
        if (call) this.#read(call, piece.result, position);
        break;
      }
      case "transcript":
        for (const inner of readTranscript(piece.text))
          if (mentionsGit(inner.content)) this.#seePieces(inner, position);
        break;
      default:
        this.#adjacent = undefined;
    }
  }

  #seeCall({ name, input, callId }: Call, result: ToolResult | undefined, position: number): void {
    this.#adjacent = undefined;
    const script = name === "exec" && typeof input.input === "string" ? commandsOfScript(input.input) : undefined;
    const acts = script === undefined ? readActs(name, input) : actsOfCommand(script);
    if (acts.length === 0) return;
    const call = { position, acts, isScript: script !== undefined };
    if (result) this.#read(call, result, position);
    else if (callId === undefined) this.#adjacent = call;
    else {
      this.#open.set(callId, call);
      if (this.#open.size > maxOpen) this.#open.delete(this.#open.keys().next().value ?? "");
    }
  }

  #read({ acts, isScript }: OpenCall, { output, failed }: ToolResult, position: number): void {
    for (const text of isScript ? outputsOfScript(output) : [output]) {
      const proof = proofIn(acts, text, failed);
      const seen = { position, ...this.#seen };
      for (const commit of proof.commits) this.findings.addCommit(commit, { ...seen, evidence: "git-commit" });
      for (const { url, act } of proof.pullRequests) this.findings.addPullRequest(url, { ...seen, evidence: act });
      if (this.findings.pushes.length < maxRows) this.findings.pushes.push(...proof.pushes);
    }
  }
}

/** Most messages do not mention Git; this check is cheap. */
const mentionsGit = (content: string) => /\b(?:git|gh|glab)\b|create_(?:pull|merge)_request/.test(content);

function readGit(git: unknown, position: number | null, findings: Findings): void {
  if (!isFields(git)) return;
  findings.addBranch(git.branch, position, "session-meta");
  const hash = parseHash(git.commit_hash);
  const repository = publicRemote(git.repository_url);
  if (hash) findings.addCommit({ hash, ...(repository && { repository }) }, { position, evidence: "session-meta" });
}

/** Added last, because evidence in messages has a position to link to. */
export function addRecorded({ metadata }: Pick<LedgerTrace, "metadata">, findings: Findings): void {
  if (!metadata) return;
  findings.addBranch(metadata.branch ?? metadata.gitBranch, null, "session-meta");
  for (const one of toList(metadata.commits)) {
    const hash = parseHash(one.hash);
    const branch = parseBranch(one.branch);
    const repository = publicRemote(one.repository);
    const subject = plainText(one.subject, maxSubjectChars);
    const position = toPosition(one.position);
    if (!hash) continue;
    const commit = { hash, ...(branch && { branch }), ...(repository && { repository }), ...(subject && { subject }) };
    findings.addCommit(commit, { position, evidence: position === null ? "session-meta" : "client" });
  }
  readGit(metadata.git, null, findings);
  for (const { url } of toList(metadata.pullRequests))
    findings.addPullRequest(url, { position: null, evidence: "pr-link" });
}

const toList = (value: unknown): Fields[] => (Array.isArray(value) ? value.slice(0, maxRows).filter(isFields) : []);

const toPosition = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 2_147_483_647 ? value : null;
