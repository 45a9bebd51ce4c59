import type { Input } from "./adapters/adapter.ts";
import { jsonl } from "./adapters/jsonl.ts";
import { Refusal } from "./api.ts";
import { type Connection, type Context, connectLoggedIn, type Owner, patienceOf, whose } from "./context.ts";
import { Failure } from "./failure.ts";
import { inputOf } from "./files.ts";
import { type Filter, filterOf } from "./filter.ts";
import { type Limits, readLimits, usualLimits } from "./limits.ts";
import { makePacker, type Packer } from "./packing.ts";
import { type Found, findInputs, nameOf, readInput } from "./reading.ts";
import { isEnd, keyOf, SentRecord } from "./record.ts";
import { jobEnd, Sender, type Sent } from "./sender.ts";
import { type Left, type Session, sizeOf } from "./session.ts";
import { addTally, emptyTally, type Tally } from "./tally.ts";
import { amountOf, clockOf } from "./terminal.ts";

/** A job is not waited for for longer, in seconds: the server has it, and the next look asks what became of it. */
const maxJobSeconds = 600;

/** What one round of looking and sending came to. */
export type Pushed = {
  sent: Sent;
  /** Sessions that were sent before and have not changed. */
  same: number;
  left: Left[];
  tallies: Map<string, Tally>;
  milliseconds: number;
};

/** An account that is sent to, and what is known of it. */
export type Target = {
  connection: Connection & { token: string };
  owner: Owner;
  limits: Limits;
  packer: Packer;
  record: SentRecord;
};

/** @throws Failure and Refusal where nobody is logged in or the server can't be asked */
export async function openTarget(context: Context): Promise<Target> {
  const connection = await connectLoggedIn(context);
  const owner = await whose(connection);
  const limits = await readLimits(connection.api);
  const record = await SentRecord.open(context.place, connection.server, owner.userId, (reason) =>
    context.terminal.warn(`${reason} What is sent now is sent once more next time, which changes nothing.`),
  );
  return { connection, owner, limits, packer: makePacker(limits.contentEncodings), record };
}

/** What became of the uploads that nobody has seen the end of. @param patienceSeconds how long each is waited for */
export async function settleJobs({ connection, record }: Target, patienceSeconds: number): Promise<void> {
  for (const { jobId, status } of record.jobs.filter((job) => !isEnd(job.status))) {
    try {
      const job = await jobEnd(connection.api, jobId, patienceSeconds);
      if (job.status !== status) record.settle(jobId, job.status, job.error || undefined);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 404) throw error;
      record.settle(jobId, "gone");
    }
  }
  await record.save(true);
}

/** Reads everything that may have changed and sends what has. @throws Failure and Refusal where that can't go on */
export async function pushOnce(context: Context, target: Target, filter = filterOf(context)): Promise<Pushed> {
  const { limits, packer, record } = target;
  const round = new Round(context, target, filter);
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
      if (!filter.input(found) || record.isLeft(nameOf(found), found.stamp)) continue;
      const same = record.unchanged(nameOf(found), found.stamp, found.adapter.version);
      if (same) round.same += same.length;
      else await round.read(found, { bounds, packer });
    }
  }
}

/** The files that are named, else what the adapters find. */
async function* inputsOf(context: Context, filter: Filter): AsyncGenerator<Found> {
  if (context.words.length === 0) return yield* findInputs(context.place, ({ name }) => filter.adapter(name));
  for (const path of context.words) yield { ...(await namedFile(path)), adapter: jsonl };
}

/** A file that the person named. @throws Failure `usage` where there is none */
export async function namedFile(path: string): Promise<Input> {
  const input = await inputOf(path);
  if (input) return input;
  throw new Failure("usage", `There is no file "${path}".`);
}

class Round {
  readonly #context: Context;
  readonly #target: Target;
  readonly #filter: Filter;
  readonly #sender: Sender;
  readonly #startedAt = performance.now();
  readonly #tallies = new Map<string, Tally>();
  readonly #left: Left[] = [];
  #readBytes = 0;
  same = 0;

  constructor(context: Context, target: Target, filter: Filter) {
    this.#context = context;
    this.#target = target;
    this.#filter = filter;
    this.#sender = new Sender({
      api: target.connection.api,
      limits: target.limits,
      packer: target.packer,
      record: target.record,
      patienceSeconds: Math.min(patienceOf(context), maxJobSeconds),
      left: (left) => void this.#left.push(left),
      moved: () => this.#tell(),
    });
  }

  async read(found: Found, { bounds, packer }: { bounds: { bytes: number; messages: number }; packer: Packer }) {
    const sessions: Record<string, string> = {};
    const tally = await readInput(found, {
      bounds,
      packer,
      onSession: (session) => {
        sessions[keyOf(session)] = session.hash;
        this.#take(session);
      },
      pause: () => this.#sender.room(),
    });
    this.#readBytes += found.bytes;
    this.#left.push(...tally.left);
    const known = this.#tallies.get(found.adapter.name) ?? emptyTally();
    addTally(known, tally);
    this.#tallies.set(found.adapter.name, known);
    if (tally.left.length > 0) this.#target.record.noteLeft(nameOf(found), found.stamp);
    else {
      this.#target.record.noteRead(nameOf(found), found.stamp, found.adapter.version, sessions);
    }
    this.#tell();
    await this.#sender.room();
  }

  #take(session: Session): void {
    if (!this.#filter.session(session)) return;
    if (this.#target.record.isDone(keyOf(session), session.hash)) this.same++;
    else this.#sender.add(session);
  }

  #tell(): void {
    const { sessions, wireBytes } = this.#sender.sent;
    const clock = clockOf(performance.now() - this.#startedAt);
    this.#context.terminal.progress(
      () =>
        `Sending  ${amountOf(sessions, "session")}, ${sizeOf(this.#readBytes)} read, ${sizeOf(wireBytes)} sent, ${clock}`,
    );
  }

  async finish(): Promise<Pushed> {
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
export async function rehearse(
  context: Context,
  record: SentRecord | undefined,
): Promise<{ wanted: { session: Session; isNew: boolean }[]; left: Left[] }> {
  const filter = filterOf(context);
  const wanted: { session: Session; isNew: boolean }[] = [];
  const left: Left[] = [];
  const bounds = { bytes: usualLimits.decodedBytes, messages: usualLimits.messagesPerTrace };
  const packer = makePacker([]);
  for await (const found of inputsOf(context, filter)) {
    context.signal.throwIfAborted();
    if (!filter.input(found) || record?.unchanged(nameOf(found), found.stamp, found.adapter.version)) continue;
    const tally = await readInput(found, {
      bounds,
      packer,
      onSession: (session) => {
        const before = record?.hashOf(keyOf(session));
        if (!filter.session(session) || before === session.hash) return;
        wanted.push({ session: { ...session, body: { plain: [] } }, isNew: before === undefined });
      },
    });
    left.push(...tally.left);
  }
  return { wanted, left };
}
