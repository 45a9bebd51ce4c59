import type { Input } from "../adapters/adapter.ts";
import { jsonl } from "../adapters/jsonl/adapter.ts";
import {
  type AccountInfo,
  type Connection,
  type Context,
  connectLoggedIn,
  fetchAccount,
  patienceOf,
} from "../context.ts";
import { CommandError } from "../errors.ts";
import { statInput } from "../files/discovery.ts";
import { HttpError } from "../server/api.ts";
import { defaultLimits, type Limits, readLimits } from "../server/limits.ts";
import { type Filter, filterOf } from "../sessions/filter.ts";
import { type AdapterInput, findInputs, inputKey, readInput } from "../sessions/inputs.ts";
import { addStats, emptyStats, type ParseStats } from "../sessions/parse-stats.ts";
import { formatBytes, type Session, type UnsentSession } from "../sessions/session.ts";
import { formatCount, formatDuration } from "../terminal/terminal.ts";
import { type Compressor, createCompressor } from "./compression.ts";
import { jobEnd, Sender, type Sent } from "./sender.ts";
import { isFinished, SentRecord, sessionKey } from "./sent-record.ts";

/** A job is not waited for for longer, in seconds: the server has it, and the next look asks what became of it. */
const maxJobSeconds = 600;

/** What one round of looking and sending came to. */
export type PushResult = {
  sent: Sent;
  /** Sessions that were sent before and have not changed. */
  same: number;
  left: UnsentSession[];
  tallies: Map<string, ParseStats>;
  milliseconds: number;
};

/** An account that is sent to, and what is known of it. */
export type PushTarget = {
  connection: Connection & { token: string };
  owner: AccountInfo;
  limits: Limits;
  compressor: Compressor;
  record: SentRecord;
};

/** @throws Failure and Refusal where nobody is logged in or the server can't be asked */
export async function openTarget(context: Context): Promise<PushTarget> {
  const connection = await connectLoggedIn(context);
  const owner = await fetchAccount(connection);
  const limits = await readLimits(connection.api);
  const record = await SentRecord.open(context.host, connection.server, owner.userId, (reason) =>
    context.terminal.warn(`${reason} What is sent now is sent once more next time, which changes nothing.`),
  );
  return { connection, owner, limits, compressor: createCompressor(limits.contentEncodings), record };
}

/** What became of the uploads that nobody has seen the end of. @param patienceSeconds how long each is waited for */
export async function refreshJobs({ connection, record }: PushTarget, patienceSeconds: number): Promise<void> {
  for (const { jobId, status } of record.jobs.filter((job) => !isFinished(job.status))) {
    try {
      const job = await jobEnd(connection.api, jobId, patienceSeconds);
      if (job.status !== status) record.settle(jobId, job.status, job.error || undefined);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      record.settle(jobId, "gone");
    }
  }
  await record.save(true);
}

/** Reads everything that may have changed and sends what has. @throws Failure and Refusal where that can't go on */
export async function pushOnce(context: Context, target: PushTarget, filter = filterOf(context)): Promise<PushResult> {
  const { limits, compressor, record } = target;
  const round = new PushRound(context, target, filter);
  const bounds = { bytes: limits.decodedBytes - 16, messages: limits.messagesPerTrace };
  try {
    await readAll();
    return await round.finish();
  } finally {
    await record.save(true);
  }

  async function readAll(): Promise<void> {
    for await (const found of inputsOf(context, filter)) {
      context.signal.throwIfAborted();
      if (!filter.input(found) || record.isLeft(inputKey(found), found.stamp)) continue;
      const same = record.unchanged(inputKey(found), found.stamp, found.adapter.version);
      if (same) round.same += same.length;
      else await round.read(found, { bounds, compressor });
    }
  }
}

/** The files that are named, else what the adapters find. */
async function* inputsOf(context: Context, filter: Filter): AsyncGenerator<AdapterInput> {
  if (context.words.length === 0) return yield* findInputs(context.host, ({ name }) => filter.adapter(name));
  for (const path of context.words) yield { ...(await namedFile(path)), adapter: jsonl };
}

/** A file that the person named. @throws Failure `usage` where there is none */
export async function namedFile(path: string): Promise<Input> {
  const input = await statInput(path);
  if (input) return input;
  throw new CommandError("usage", `There is no file "${path}".`);
}

class PushRound {
  readonly #context: Context;
  readonly #target: PushTarget;
  readonly #filter: Filter;
  readonly #sender: Sender;
  readonly #startedAt = performance.now();
  readonly #tallies = new Map<string, ParseStats>();
  readonly #left: UnsentSession[] = [];
  #readBytes = 0;
  same = 0;

  constructor(context: Context, target: PushTarget, filter: Filter) {
    this.#context = context;
    this.#target = target;
    this.#filter = filter;
    this.#sender = new Sender({
      api: target.connection.api,
      limits: target.limits,
      compressor: target.compressor,
      record: target.record,
      patienceSeconds: Math.min(patienceOf(context), maxJobSeconds),
      left: (left) => void this.#left.push(left),
      moved: () => this.#tell(),
    });
  }

  async read(
    found: AdapterInput,
    { bounds, compressor }: { bounds: { bytes: number; messages: number }; compressor: Compressor },
  ) {
    const sessions: Record<string, string> = {};
    const tally = await readInput(found, {
      bounds,
      compressor,
      onSession: (session) => {
        sessions[sessionKey(session)] = session.hash;
        this.#take(session);
      },
      pause: () => this.#sender.room(),
    });
    this.#readBytes += found.bytes;
    this.#left.push(...tally.left);
    const known = this.#tallies.get(found.adapter.name) ?? emptyStats();
    addStats(known, tally);
    this.#tallies.set(found.adapter.name, known);
    if (tally.left.length > 0) this.#target.record.noteLeft(inputKey(found), found.stamp);
    else {
      this.#target.record.noteRead(inputKey(found), found.stamp, found.adapter.version, sessions);
    }
    this.#tell();
    await this.#sender.room();
  }

  #take(session: Session): void {
    if (!this.#filter.session(session)) return;
    if (this.#target.record.isDone(sessionKey(session), session.hash)) this.same++;
    else this.#sender.add(session);
  }

  #tell(): void {
    const { sessions, wireBytes } = this.#sender.sent;
    const clock = formatDuration(performance.now() - this.#startedAt);
    this.#context.terminal.progress(
      () =>
        `Sending  ${formatCount(sessions, "session")}, ${formatBytes(this.#readBytes)} read, ${formatBytes(wireBytes)} sent, ${clock}`,
    );
  }

  async finish(): Promise<PushResult> {
    await this.#sender.finish();
    return {
      sent: this.#sender.sent,
      same: this.same,
      left: this.#left,
      tallies: this.#tallies,
      milliseconds: performance.now() - this.#startedAt,
    };
  }
}

/** As `pushOnce`, but only says what would be sent, and what can't be: nothing leaves this machine. */
export async function planPush(
  context: Context,
  record: SentRecord | undefined,
): Promise<{ wanted: { session: Session; isNew: boolean }[]; left: UnsentSession[] }> {
  const filter = filterOf(context);
  const wanted: { session: Session; isNew: boolean }[] = [];
  const left: UnsentSession[] = [];
  const bounds = { bytes: defaultLimits.decodedBytes, messages: defaultLimits.messagesPerTrace };
  const compressor = createCompressor([]);
  for await (const found of inputsOf(context, filter)) {
    context.signal.throwIfAborted();
    if (!filter.input(found) || record?.unchanged(inputKey(found), found.stamp, found.adapter.version)) continue;
    const tally = await readInput(found, {
      bounds,
      compressor,
      onSession: (session) => {
        const before = record?.hashOf(sessionKey(session));
        if (!filter.session(session) || before === session.hash) return;
        wanted.push({ session: { ...session, body: { plain: [] } }, isNew: before === undefined });
      },
    });
    left.push(...tally.left);
  }
  return { wanted, left };
}
