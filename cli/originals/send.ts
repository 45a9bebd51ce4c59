import { type Context, listValue } from "../context.ts";
import { CommandError } from "../errors.ts";
import { program } from "../program.ts";
import { foldHome, ProjectRules } from "../projects/rules.ts";
import { type Api, HttpError } from "../server/api.ts";
import type { SessionFilter } from "../sessions/filter.ts";
import type { AdapterInput } from "../sessions/inputs.ts";
import { type SentRecord, splitKey } from "../sync/sent-record.ts";
import type { Refusal } from "./adopt.ts";
import { fetchRecipient, putKey } from "./client.ts";
import { agents, type SessionFiles } from "./collect.ts";
import { type CopyState, CopyStates } from "./copy-states.ts";
import { formatFingerprint, getFingerprint, readIdentity, readRecipient } from "./keys.ts";
import { isComplete, joinStamps, type Keys, type LocalSession, type Refused, sendSession } from "./send-session.ts";

export type SentCopies = { copies: number; wireBytes: number; refused: number };

type Target = {
  api: Api;
  server: string;
  account: { userId: string; machine: string };
  device: string;
  record: SentRecord;
};

type Round = { filter: SessionFilter; rules: ProjectRules; keys: Keys; isPatient: boolean };

/** In the background, files that are rewritten with each message are sent after a pause. */
const [restMs, maxRestMs] = [60_000, 600_000];
/** After this time without changes, small parts are merged. */
const settledMs = 600_000;

/** Sends exact copies of sent sessions. A failure here never stops a session from being sent. */
export class OriginalsSender {
  readonly #context: Context;
  readonly #target: Target;
  readonly #states: CopyStates;
  #noted = new Map<string, AdapterInput>();
  readonly #settled = new Map<string, string>();
  readonly #warned = new Set<string>();
  #isKeyChecked = false;
  #background: Promise<void> | undefined;
  #next: SessionFilter | undefined;
  #sent: SentCopies = { copies: 0, wireBytes: 0, refused: 0 };

  constructor(context: Context, target: Target) {
    this.#context = context;
    this.#target = target;
    this.#states = new CopyStates(context.host, `${target.server}\n${target.account.userId}`);
  }

  note(input: AdapterInput): void {
    if (Object.hasOwn(agents, input.adapter.name)) this.#noted.set(`${input.adapter.name}:${input.path}`, input);
  }

  start(filter: SessionFilter, onSent: (sent: SentCopies) => void): void {
    this.#next = filter;
    this.#background ??= this.#sendNext(onSent).finally(() => {
      this.#background = undefined;
    });
  }

  get idle(): Promise<void> {
    return this.#background ?? Promise.resolve();
  }

  async #sendNext(onSent: (sent: SentCopies) => void): Promise<void> {
    for (let filter = this.#next; filter; filter = this.#next) {
      this.#next = undefined;
      const sent = await this.send(filter, { isPatient: true });
      if (sent && sent.copies > 0) onSent(sent);
      if (this.#context.signal.aborted) return;
    }
  }

  /** Failures are only warnings. @returns undefined if exact copies are off */
  async send(filter: SessionFilter, { isPatient = false } = {}): Promise<SentCopies | undefined> {
    const noted = this.#noted;
    this.#noted = new Map();
    this.#sent = { copies: 0, wireBytes: 0, refused: 0 };
    try {
      const rules = await ProjectRules.openForOriginals(this.#context.host);
      if (!rules) return undefined;
      const keys = noted.size > 0 ? await this.#readKeys() : undefined;
      if (keys) await this.#sendAll(noted, { filter, rules, keys, isPatient });
    } catch (error) {
      if (!this.#context.signal.aborted) this.#warn(describeFailure(error));
    }
    return this.#sent;
  }

  #warn(message: string): void {
    if (!this.#warned.has(message)) this.#context.terminal.warn(message);
    this.#warned.add(message);
  }

  async #readKeys(): Promise<Keys | undefined> {
    const recipient = await readRecipient(this.#context.host);
    if (recipient === undefined) {
      this.#warn(`Exact copies are on, but this machine has no key for them. Set one up with: ${program} originals on`);
      return undefined;
    }
    if (!this.#isKeyChecked) await checkKey(this.#target.api, recipient);
    this.#isKeyChecked = true;
    return { recipient, secret: (await readIdentity(this.#context.host))?.secret };
  }

  async #sendAll(noted: ReadonlyMap<string, AdapterInput>, round: Round): Promise<void> {
    const { terminal } = this.#context;
    const sessions = await this.#findSessions(noted, round);
    let left = sessions.length;
    for (const session of sessions) {
      terminal.progress(() => `Sending  exact copies: ${this.#sent.copies} sent, ${left} to look at`);
      left--;
      await this.#guard(session.path, () => this.#sendSession(session, round));
    }
  }

  /** An unreadable file, or a copy that is refused or can't be decrypted, only stops its own copy. */
  async #guard(path: string, run: () => Promise<void>): Promise<void> {
    const { signal, host } = this.#context;
    signal.throwIfAborted();
    try {
      await run();
    } catch (error) {
      if (signal.aborted || concernsAll(error)) throw error;
      this.#warn(
        `Can't send an exact copy of ${foldHome(path, host)}: ${(error as Error).message.replace(/\.$/, "")}.`,
      );
    }
  }

  /** If a session has two main files, the newer one counts. */
  async #findSessions(noted: ReadonlyMap<string, AdapterInput>, round: Round): Promise<LocalSession[]> {
    const sessions = new Map<string, LocalSession>();
    const seen = new Set<string>();
    for (const input of noted.values()) {
      await this.#guard(input.path, async () => {
        const session = await this.#findSession(input, seen, round);
        const known = session && sessions.get(session.key);
        if (session && (!known || getTime(session) > getTime(known))) sessions.set(session.key, session);
      });
    }
    return [...sessions.values()];
  }

  async #findSession(input: AdapterInput, seen: Set<string>, round: Round): Promise<LocalSession | undefined> {
    const { record } = this.#target;
    const agent = agents[input.adapter.name];
    const main = await agent?.findMain(input.path);
    if (!agent || main === undefined || seen.has(main)) return undefined;
    seen.add(main);
    const one = record
      .getSessions({ ...input, path: main })
      .map(([key, labels]) => ({ key, labels, ...splitKey(key) }))
      .find(({ sourceId }) => !sourceId.includes("/"));
    if (!one || !record.getState(one.key) || record.getKept(one.key)?.reason === "deleted") return undefined;
    const { filter, rules } = round;
    const isLeftOut = filter.leavesOut(one.labels) || rules.findExclusion(one.labels) !== undefined;
    if (isLeftOut || !filter.wantsSession(one.labels, input.adapter.name)) return undefined;
    const found = await agent.gather(main);
    return found && { ...one, path: main, found };
  }

  async #sendSession(session: LocalSession, { keys, isPatient }: Round): Promise<void> {
    const { key, found } = session;
    const stamps = joinStamps(found);
    const force = listValue(this.#context, "replace").includes(session.sourceId);
    if (this.#settled.get(key) === stamps && !force) return;
    const stored = await this.#states.read(key);
    const state = stored?.recipient === keys.recipient ? stored : undefined;
    const isRefused = state?.refused === stamps && !force;
    if (isRefused || (state && isComplete(state, found))) {
      const isOld = found.files.every(({ modifiedAt }) => Date.now() - modifiedAt > settledMs);
      if (isRefused || isOld) this.#settled.set(key, stamps);
      return;
    }
    if (isPatient && isBusy(found, state)) return;
    const { host } = this.#context;
    const { api, account, device } = this.#target;
    const onBytes = (bytes: number) => {
      this.#sent.wireBytes += bytes;
    };
    const target = { host, api, states: this.#states, machine: account.machine, device, keys };
    const outcome = await sendSession(session, target, { state, force, onBytes });
    if (outcome === "sent") this.#sent.copies++;
    else {
      await this.#states.write(key, { recipient: keys.recipient, version: undefined, files: [], refused: stamps });
      if (outcome !== "deleted") this.#noteRefused(session, outcome);
    }
  }

  #noteRefused({ source, sourceId }: LocalSession, { refusal, machine }: Refused): void {
    this.#sent.refused++;
    const advice = `Replace it with: ${program} push --replace ${sourceId}`;
    this.#warn(
      `! The exact copy of ${source} ${sourceId} was not replaced: on "${machine}", ${refusals[refusal]}. ${advice}`,
    );
  }
}

const refusals: Record<Refusal, string> = {
  longer: "the session continued after the end of this machine's files",
  different: "the session continued differently",
  unreadable: "the session was copied, and this machine can't decrypt that copy to compare it",
};

const concernsAll = (error: unknown): boolean =>
  error instanceof HttpError ? ![400, 409, 422].includes(error.status) : isUnreachable(error);

const isUnreachable = (error: unknown): boolean => error instanceof CommandError && error.kind !== "failed";

const getTime = ({ found }: LocalSession): number => found.files[0]?.modifiedAt ?? 0;

function isBusy({ isRewritten, files }: SessionFiles, state: CopyState | undefined): boolean {
  if (!isRewritten) return false;
  const now = Date.now();
  const isResting = files.every(({ modifiedAt }) => now - modifiedAt >= restMs);
  return !isResting && now - (state?.sentAt ?? 0) < maxRestMs;
}

/**
 * Nothing is encrypted to a key that only the server knows.
 *
 * @throws CommandError if the account has a different key
 */
export async function checkKey(api: Api, recipient: string): Promise<void> {
  const known = await fetchRecipient(api);
  if (known === recipient) return;
  if (known === undefined && (await putKey(api, recipient))) return;
  const theirs = formatFingerprint(getFingerprint(known ?? (await fetchRecipient(api)) ?? ""));
  const ours = formatFingerprint(getFingerprint(recipient));
  throw new CommandError(
    "failed",
    `The server's key for exact copies (${theirs}) is not the one that this machine trusts (${ours}), so it was not used. If you replaced the key on another machine, compare the fingerprint there, and then import the new key with: ${program} originals key import`,
  );
}

function describeFailure(error: unknown): string {
  if (error instanceof HttpError && error.status === 403)
    return `Exact copies were not sent because this machine's login does not allow it. Allow it with: ${program} originals on`;
  return `Exact copies were not sent: ${(error as Error).message}`;
}
