import { type Fields, isFields } from "../../files/json.ts";
import type { GitEvidence } from "../git-evidence.ts";
import { asCount, asFields, asString, asTimestamp, getProjectName, truncate } from "../values.ts";
import { type Costs, readCosts } from "./costs/costs.ts";
import type { SessionIdentity } from "./identity.ts";

export type SavedFacts = { costs?: Costs; workedMs?: number } & {
  [name in
    | "session"
    | "createdAt"
    | "copiedFrom"
    | "cwd"
    | "branch"
    | "toldBranch"
    | "effort"
    | "toldEffort"
    | "permissionMode"
    | "toldPermissionMode"
    | "version"
    | "model"
    | "toldModel"
    | "forkedFrom"
    | "continuedIn"]?: string;
};

const changing = [
  ["branch", "toldBranch"],
  ["effort", "toldEffort"],
  ["permissionMode", "toldPermissionMode"],
] as const;

export class SessionFacts {
  readonly #known: SavedFacts;

  constructor(saved?: SavedFacts) {
    this.#known = { ...saved };
  }

  save(): SavedFacts {
    return this.#known;
  }

  get folder(): string | undefined {
    return this.#known.cwd;
  }

  get session(): string | undefined {
    return this.#known.session;
  }

  noteTime(value: unknown, isCopied = false): void {
    if (isCopied) this.#known.copiedFrom ??= asTimestamp(value);
    if (isCopied) return;
    const before = this.#known.createdAt;
    if (before && isNotEarlier(value, before)) return;
    const time = asTimestamp(value);
    if (time && (!before || Date.parse(time) < Date.parse(before))) this.#known.createdAt = time;
  }

  note(record: Fields): boolean {
    const isNew = this.#known.cwd === undefined;
    const cwd = asString(record.cwd);
    const version = asString(record.version);
    const session = asString(record.sessionId);
    const branch = asString(record.gitBranch);
    if (cwd) this.#known.cwd ??= cwd;
    if (session) this.#known.session ??= session;
    if (version) this.#known.version = version;
    const effort = asString(record.effort);
    if (effort) this.#known.effort = effort;
    this.#noteMode(record);
    // Claude Code writes these if there is no branch.
    if (branch && branch !== "HEAD" && branch !== ".invalid") this.#known.branch = branch;
    return isNew && this.#known.cwd !== undefined;
  }

  readChanges(): Fields | undefined {
    let changed: Fields | undefined;
    for (const [name, field] of changing) {
      const value = this.#known[name];
      if (!value || value === this.#known[field]) continue;
      this.#known[field] = value;
      changed ??= {};
      changed[name] = value;
    }
    return changed;
  }

  readNewModel(value: unknown): string | undefined {
    const model = asString(value);
    if (!model || model === "<synthetic>" || model === (this.#known.toldModel ?? this.#known.model)) return undefined;
    this.#known.model = model;
    delete this.#known.toldModel;
    return model;
  }

  /** A message before the next answer named another model. */
  repeatModel(): void {
    this.#known.toldModel = "";
  }

  noteOriginal(sourceId: string | undefined): void {
    if (sourceId) this.#known.forkedFrom ??= sourceId;
  }

  readState(record: Fields): boolean {
    if (record.type === "cost-state") this.#known.costs = readCosts(this.#known.costs ?? {}, record);
    else if (record.type === "relocated") this.#known.cwd = asString(record.relocatedCwd) ?? this.#known.cwd ?? "";
    else if (record.type === "permission-mode") this.#noteMode(record);
    else if (record.type === "continued-in") this.#noteContinuation(record);
    else return false;
    return true;
  }

  #noteMode({ permissionMode }: Fields): void {
    const mode = asString(permissionMode);
    if (mode) this.#known.permissionMode = mode;
  }

  noteTurn({ subtype, durationMs }: Fields): void {
    const took = subtype === "turn_duration" ? asCount(durationMs) : undefined;
    if (took) this.#known.workedMs = (this.#known.workedMs ?? 0) + took;
  }

  #noteContinuation({ continuedInSessionId }: Fields): void {
    const next = asString(continuedInSessionId);
    if (next) this.#known.continuedIn = next;
  }

  details({ given, ...identity }: SessionIdentity, title: string | undefined): { fields: Fields; metadata: Fields } {
    const { model, branch, version, forkedFrom, costs = {}, copiedFrom } = this.#known;
    const createdAt = this.#known.createdAt ?? copiedFrom ?? asTimestamp(given?.createdAt);
    const { continuedIn, effort, permissionMode, workedMs } = this.#known;
    const cwd = given?.folder ?? this.#known.cwd;
    const project = given?.hasProject === false ? undefined : getProjectName(cwd);
    const runs = Object.entries(costs).map(([startedAt, costUsd]) => ({ startedAt, costUsd }));
    const parent = this.#findParent(identity);
    return {
      fields: {
        ...(model && { model: truncate(model, 256) }),
        ...(title && { title: truncate(title, 512) }),
        ...(project && { project }),
        ...(createdAt && { createdAt }),
      },
      metadata: {
        ...(cwd && { cwd }),
        ...(branch && { branch }),
        ...(version && { agentVersion: version }),
        ...(effort && { effort }),
        ...(permissionMode && { permissionMode }),
        ...(workedMs && { workedMs }),
        ...(parent && { parent }),
        ...(forkedFrom && { forkedFrom }),
        ...(continuedIn && { continuedIn }),
        ...(runs.length > 0 && { costs: runs }),
      },
    };
  }

  #findParent({ isSidechain, isAgent, name, parent }: SessionIdentity): string | undefined {
    if (isSidechain) return name;
    return isAgent ? (parent ?? this.session) : undefined;
  }
}

/** Most times are written alike, so that comparing their letters is enough. */
const isNotEarlier = (value: unknown, before: string): boolean =>
  typeof value === "string" &&
  value.length === before.length &&
  value >= before &&
  value.endsWith("Z") &&
  before.endsWith("Z");

/** Newer versions record a command's commit and pull request next to its output. */
export function readOperation({ toolUseResult }: Fields, evidence: GitEvidence, position: number): void {
  const { commit, pr } = asFields(asFields(toolUseResult).gitOperation);
  const [hash, branch] = [asString(asFields(commit).sha), asString(asFields(commit).branch)];
  if (hash) evidence.addCommit({ hash, ...(branch && { branch }), position });
  if (isFields(pr) && pr.action === "created") evidence.addPullRequest({ url: pr.url, number: pr.number });
}
