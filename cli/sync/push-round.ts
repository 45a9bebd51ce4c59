import type { Checkpoint } from "../adapters/adapter.ts";
import type { Picture } from "../adapters/pictures.ts";
import { type Context, listValue, readPatience } from "../context.ts";
import { addCounts, type SecretCounts } from "../redact/masker.ts";
import { toPartLimits } from "../server/limits.ts";
import type { Writing } from "../sessions/collector.ts";
import { SessionFilter } from "../sessions/filter.ts";
import { type AdapterInput, type ParsedInput, parseInput, type Searches } from "../sessions/inputs.ts";
import { addStats, emptyStats, type ParseStats } from "../sessions/parse-stats.ts";
import type { KnownSession, Session, UnsentSession } from "../sessions/session.ts";
import { formatBytes, formatCount, formatDuration } from "../terminal/format.ts";
import { findChangedInputs } from "./changed-inputs.ts";
import type { ResumePoint } from "./checkpoints.ts";
import type { KeptSession } from "./jobs.ts";
import type { SentPictures } from "./picture-sender.ts";
import type { PushTarget } from "./push-target.ts";
import { readSessions } from "./read-sessions.ts";
import { RoundPictures } from "./round-pictures.ts";
import { Sender, type SentCounts } from "./sender.ts";
import { sessionKey } from "./sent-record.ts";
import type { InputSessions } from "./stored-record.ts";
import { WholeSessions } from "./whole-sessions.ts";

/** The server has the upload, and the next run asks for its job again. */
const maxJobSeconds = 600;

export type PushResult = {
  sent: SentCounts & SentPictures;
  same: number;
  left: UnsentSession[];
  kept: KeptSession[];
  secrets: SecretCounts;
  stats: Map<string, ParseStats>;
  milliseconds: number;
  filter: SessionFilter;
};

export async function pushOnce(
  context: Context,
  target: PushTarget,
  filter = new SessionFilter(context),
  searches?: Searches,
): Promise<PushResult> {
  const round = new PushRound(context, target, filter);
  try {
    const onUnchanged = (sessions: number) => {
      round.same += sessions;
    };
    target.pictures.begin();
    const { record, pictures, originals } = target;
    const onFound = (input: AdapterInput) => originals.note(input);
    const inputs = findChangedInputs(context, filter, record, onUnchanged, { searches, pictures, onFound });
    for await (const input of inputs) await round.push(input);
    return await round.finish();
  } finally {
    await target.record.save(true);
  }
}

class PushRound {
  readonly #context: Context;
  readonly #target: PushTarget;
  readonly #filter: SessionFilter;
  readonly #sender: Sender;
  readonly #startedAt = performance.now();
  readonly #stats = new Map<string, ParseStats>();
  readonly #left: UnsentSession[] = [];
  readonly #kept: KeptSession[] = [];
  readonly #replacing: ReadonlySet<string>;
  readonly #secrets: SecretCounts = {};
  readonly #whole: WholeSessions;
  readonly #pictures: RoundPictures;
  readonly #unlabelled = new Map<string, Session[]>();
  #readBytes = 0;
  same = 0;

  constructor(context: Context, target: PushTarget, filter: SessionFilter) {
    this.#context = context;
    this.#target = target;
    this.#filter = filter;
    this.#pictures = new RoundPictures(filter, target);
    const onUnsent = (session: UnsentSession) => {
      this.#left.push(session);
      const input = this.#whole.findInput(sessionKey(session));
      if (input) target.record.addUnsendableInput(input);
    };
    const onKept = (session: KeptSession) => void this.#kept.push(session);
    this.#replacing = new Set(listValue(context, "replace"));
    this.#whole = new WholeSessions(target.record, { onUnsent, onKept });
    this.#sender = new Sender({
      api: target.connection.api,
      limits: target.limits,
      compressor: target.compressor,
      record: target.record,
      pictures: target.pictures,
      patienceSeconds: Math.min(readPatience(context), maxJobSeconds),
      onUnsent,
      onIncomplete: (session, messageCount) => this.#whole.want(session, messageCount),
      onKept,
      onNoAppend: () => {
        target.knowsAppend = false;
      },
      onProgress: () => this.#showProgress(),
    });
  }

  async push(input: AdapterInput): Promise<void> {
    const { record } = this.#target;
    const { name, holdsAnySource } = input.adapter;
    const found: InputSessions = { sessions: {}, labels: {} };
    await this.#pictures.beginInput(input);
    const resumed = await this.#findResumption(input);
    let isFolderKnown = false;
    let end: Checkpoint | undefined;
    let last: Session | undefined;
    const stats = await readSessions(
      { ...this.#withStored(input), ...(resumed && { from: resumed.from }) },
      {
        ...this.#writing((source, sourceId) => this.#getKnown(source, sourceId)),
        isLeftOut: (labels) => this.#filter.leavesOut(labels),
        isWhole: (session) => record.isOnlyIn(input, sessionKey(session)),
        onFolder: (cwd) => {
          isFolderKnown = true;
          if (!this.#filter.needsLabels(name)) this.#pictures.noteFolder(cwd);
        },
        onPicture: (picture) => this.#pictures.add(picture),
        onPart: (part) => {
          const { source, project, cwd, state } = part;
          last = part;
          if (part.isLast) found.sessions[sessionKey(part)] = state.hash;
          if (part.isLast) found.labels[sessionKey(part)] = { source, project, cwd };
          this.#whole.note(part, input);
          this.#sendIfWanted(part, name, isFolderKnown);
        },
        onCheckpoint: (at) => {
          end = at;
        },
      },
    );
    this.#unlabelled.clear();
    this.#noteLeftOut(stats, name, found);
    await this.#pictures.complete(input, found, (onPicture) => this.#readPictures(input, onPicture));
    if (end && last) await this.#saveCheckpoint(input, end, last, resumed);
    this.#readBytes += input.bytes;
    this.#left.push(...stats.left);
    for (const part of stats.projects) addCounts(this.#secrets, part.secrets);
    const total = this.#stats.get(name) ?? emptyStats();
    addStats(total, stats);
    this.#stats.set(name, total);
    const isUnsendable = stats.left.length > 0 && !input.needsNewerNode;
    if (isUnsendable || (holdsAnySource && stats.invalid > 0)) record.addUnsendableInput(input);
    else if (!stats.isGone) record.addInput(input, found);
    this.#showProgress();
    await this.#sender.waitForCapacity();
  }

  /** Left-out projects may be wanted later. */
  #noteLeftOut({ projects }: ParsedInput, source: string, found: InputSessions): void {
    for (const [index, { cwd, project, isLeftOut, sessions }] of projects.entries()) {
      if (!isLeftOut) continue;
      found.labels[`left out ${index}`] = { source, cwd, project };
      this.#filter.noteProjectLeftOut({ cwd, project }, sessions);
    }
  }

  async #findResumption(input: AdapterInput): Promise<ResumePoint | undefined> {
    const { checkpoints, record, knowsAppend } = this.#target;
    return knowsAppend ? checkpoints.find(input, (key) => record.getState(key)) : undefined;
  }

  /** The checkpoint is valid once the session's last part is stored. */
  #saveCheckpoint(input: AdapterInput, at: Checkpoint, last: Session, found: ResumePoint | undefined): Promise<void> {
    return this.#target.checkpoints.save(input, at, { key: sessionKey(last), state: last.state, found });
  }

  #getKnown(source: string, sourceId: string): KnownSession {
    const { record, knowsAppend } = this.#target;
    const replaces = this.#replacing.has(sourceId) ? { replaces: true } : {};
    return knowsAppend ? { state: record.getState(sessionKey({ source, sourceId })), ...replaces } : replaces;
  }

  #writing(known: Writing["known"]) {
    const { limits, compressor, maskKey } = this.#target;
    return { compressor, maskKey, limits: toPartLimits(limits), known, pause: () => this.#sender.waitForCapacity() };
  }

  /** @param isFolderKnown otherwise the session's end decides */
  #sendIfWanted(part: Session, adapter: string, isFolderKnown: boolean): void {
    const key = sessionKey(part);
    const before = this.#unlabelled.get(key) ?? [];
    if (!part.isLast && (!isFolderKnown || this.#filter.needsLabels(adapter))) {
      this.#unlabelled.set(key, [...before, part]);
      return;
    }
    this.#unlabelled.delete(key);
    const isWanted = !part.isLast || this.#filter.wantsSession(part, adapter);
    if (part.isLast) this.#pictures.endSession(part, isWanted);
    if (!isWanted) return;
    if (part.isLast && this.#target.record.isSent(key, part.state.hash)) this.same++;
    else for (const one of [...before, part]) this.#sender.add(one);
  }

  #showProgress(): void {
    const { sessions, wireBytes } = this.#sender.sent;
    const [read, sent] = [formatBytes(this.#readBytes), formatBytes(wireBytes)];
    const duration = formatDuration(performance.now() - this.#startedAt);
    this.#context.terminal.progress(
      () => `Sending  ${formatCount(sessions, "session")}, ${read} read, ${sent} sent, ${duration}`,
    );
  }

  /** Copied messages count in their original if the server has it. */
  #withStored(input: AdapterInput): AdapterInput {
    const { record } = this.#target;
    const source = input.adapter.name;
    return {
      ...input,
      isStored: (sourceId) => record.getState(sessionKey({ source, sourceId })) !== undefined,
      sentVersion: (sourceId) => record.getVersion(sessionKey({ source, sourceId })),
    };
  }

  async #sendWhole(): Promise<void> {
    for (const { input, known } of this.#whole.take(this.#target.knowsAppend)) {
      const getWanted = (source: string, sourceId: string): KnownSession | undefined => {
        const key = sessionKey({ source, sourceId });
        const wanted = known.get(key);
        return wanted && { ...wanted, state: this.#target.record.getState(key) };
      };
      const writing = {
        ...this.#writing((source, sourceId) => getWanted(source, sourceId) ?? this.#getKnown(source, sourceId)),
        onPicture: (picture: Picture) => this.#pictures.add(picture),
        onPart: (part: Session) => {
          const isWanted = getWanted(part.source, part.sourceId) !== undefined;
          if (part.isLast) this.#pictures.endSession(part, isWanted);
          if (!isWanted) return;
          this.#whole.note(part, input);
          this.#sender.add(part);
        },
        onChanged() {},
      };
      await this.#pictures.beginInput(input);
      await parseInput(this.#withStored(input), { writing, pause: writing.pause });
    }
    await this.#sender.finish();
  }

  async #readPictures(input: AdapterInput, onPicture: NonNullable<Writing["onPicture"]>): Promise<void> {
    const writing = { ...this.#writing(() => ({})), onPicture, onPart() {}, onChanged() {} };
    await parseInput(this.#withStored(input), { writing, pause: writing.pause });
  }

  async finish(): Promise<PushResult> {
    await this.#target.pictures.flush();
    await this.#sender.finish();
    for (let time = 0; this.#whole.isWanted && time < maxWholeTimes; time++) await this.#sendWhole();
    return {
      sent: { ...this.#sender.sent, ...this.#target.pictures.sent },
      same: this.same,
      left: this.#left,
      kept: this.#kept,
      secrets: this.#secrets,
      stats: this.#stats,
      milliseconds: performance.now() - this.#startedAt,
      filter: this.#filter,
    };
  }
}

/** A session may be sent whole, and then again to replace a longer one. */
const maxWholeTimes = 3;
