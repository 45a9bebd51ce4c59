import { type Context, patienceOf } from "../context.ts";
import { defaultLimits } from "../server/limits.ts";
import { SessionFilter } from "../sessions/filter.ts";
import { type AdapterInput, parseInput } from "../sessions/inputs.ts";
import { addStats, emptyStats, type ParseStats } from "../sessions/parse-stats.ts";
import type { Session, UnsentSession } from "../sessions/session.ts";
import { formatBytes, formatCount, formatDuration } from "../terminal/format.ts";
import { changedInputs } from "./changed-inputs.ts";
import { createCompressor } from "./compression.ts";
import type { PushTarget } from "./push-target.ts";
import { Sender, type Sent } from "./sender.ts";
import { type InputSessions, type SentRecord, sessionKey } from "./sent-record.ts";

/** The longest wait for one job, in seconds: the server has the upload, and the next run asks for its job again. */
const maxJobSeconds = 600;

export type PushResult = {
  sent: Sent;
  /** Sessions that have not changed since they were sent. */
  same: number;
  left: UnsentSession[];
  /** By the adapters' names. */
  stats: Map<string, ParseStats>;
  milliseconds: number;
  filter: SessionFilter;
};

/** Reads every input that may have changed and sends what has. @throws CommandError and HttpError where it can't go on */
export async function pushOnce(
  context: Context,
  target: PushTarget,
  filter = new SessionFilter(context),
): Promise<PushResult> {
  const round = new PushRound(context, target, filter);
  try {
    const inputs = changedInputs(context, filter, target.record, (sessions) => {
      round.same += sessions;
    });
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
  #readBytes = 0;
  same = 0;

  constructor(context: Context, target: PushTarget, filter: SessionFilter) {
    this.#context = context;
    this.#target = target;
    this.#filter = filter;
    this.#sender = new Sender({
      api: target.connection.api,
      limits: target.limits,
      compressor: target.compressor,
      record: target.record,
      patienceSeconds: Math.min(patienceOf(context), maxJobSeconds),
      onUnsent: (session) => void this.#left.push(session),
      onProgress: () => this.#showProgress(),
    });
  }

  async push(input: AdapterInput): Promise<void> {
    const { record, limits, compressor } = this.#target;
    const { name, holdsAnySource } = input.adapter;
    const found: InputSessions = { sessions: {}, labels: {} };
    const stats = await parseInput(input, {
      limits: { bytes: limits.decodedBytes - 16, messages: limits.messagesPerTrace },
      compressor,
      onSession: (session) => {
        const { source, project, cwd } = session;
        found.sessions[sessionKey(session)] = session.hash;
        found.labels[sessionKey(session)] = { source, project, cwd };
        this.#sendIfNew(session, name);
      },
      pause: () => this.#sender.waitForCapacity(),
    });
    this.#readBytes += input.bytes;
    this.#left.push(...stats.left);
    const total = this.#stats.get(name) ?? emptyStats();
    addStats(total, stats);
    this.#stats.set(name, total);
    if (stats.left.length > 0 || (holdsAnySource && stats.invalid > 0)) record.addUnsendableInput(input);
    else record.addInput(input, found);
    this.#showProgress();
    await this.#sender.waitForCapacity();
  }

  #sendIfNew(session: Session, adapter: string): void {
    if (!this.#filter.wantsSession(session, adapter)) return;
    if (this.#target.record.isSent(sessionKey(session), session.hash)) this.same++;
    else this.#sender.add(session);
  }

  #showProgress(): void {
    const { sessions, wireBytes } = this.#sender.sent;
    const [read, sent] = [formatBytes(this.#readBytes), formatBytes(wireBytes)];
    const duration = formatDuration(performance.now() - this.#startedAt);
    this.#context.terminal.progress(
      () => `Sending  ${formatCount(sessions, "session")}, ${read} read, ${sent} sent, ${duration}`,
    );
  }

  async finish(): Promise<PushResult> {
    await this.#sender.finish();
    return {
      sent: this.#sender.sent,
      same: this.same,
      left: this.#left,
      stats: this.#stats,
      milliseconds: performance.now() - this.#startedAt,
      filter: this.#filter,
    };
  }
}

export type PushPlan = {
  sessions: { session: Session; isNew: boolean }[];
  same: number;
  left: UnsentSession[];
  stats: Map<string, ParseStats>;
  filter: SessionFilter;
};

/** Finds what `pushOnce` would send, without sending it. */
export async function planPush(context: Context, record: SentRecord | undefined): Promise<PushPlan> {
  const filter = new SessionFilter(context);
  const plan: PushPlan = { sessions: [], same: 0, left: [], stats: new Map(), filter };
  const limits = { bytes: defaultLimits.decodedBytes, messages: defaultLimits.messagesPerTrace };
  const compressor = createCompressor([]);
  const inputs = changedInputs(context, filter, record, (sessions) => {
    plan.same += sessions;
  });
  for await (const input of inputs) {
    const { name } = input.adapter;
    const stats = await parseInput(input, {
      limits,
      compressor,
      onSession: (session) => {
        if (!filter.wantsSession(session, name)) return;
        const previous = record?.hashOf(sessionKey(session));
        if (previous === session.hash) plan.same++;
        else plan.sessions.push({ session: { ...session, body: { plain: [] } }, isNew: previous === undefined });
      },
    });
    plan.left.push(...stats.left);
    const total = plan.stats.get(name) ?? emptyStats();
    addStats(total, stats);
    plan.stats.set(name, total);
  }
  return plan;
}
