import { SpoorError } from "#lib/core/errors";
import type { Room } from "#lib/http/body";

const stepBytes = 1 << 20;
/** The reserve is for senders that use little. */
const [keptPart, littlePart] = [1 / 8, 1 / 64];
const paceMs = 5000;

const overloaded = (what: string) =>
  new SpoorError("overloaded", `${what} Nothing was stored; try again.`, { retryAfterSeconds: 5 });
const allFull = "The server is receiving as much as it can, and ended the slowest upload.";
const ownFull = "Your uploads in progress use all that the server allows one user.";

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, one) => all + one, 0);

class HeldBody implements Room {
  readonly userId: string;
  readonly maxBytes: number;
  readonly ended: Promise<never>;
  heldBytes = 0;
  isArriving = true;
  readonly #budget: BodyBudget;
  readonly #reject: (reason: SpoorError) => void;
  #arrived: { at: number; bytes: number };
  #marks: { at: number; bytes: number }[];

  constructor(budget: BodyBudget, userId: string, maxBytes: number) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {}); // reported where the body is read
    this.userId = userId;
    this.maxBytes = maxBytes;
    this.ended = promise;
    this.#budget = budget;
    this.#reject = reject;
    this.#arrived = { at: budget.now(), bytes: 0 };
    this.#marks = [this.#arrived];
  }

  grow(bytes: number): void {
    this.#arrived = { at: this.#budget.now(), bytes };
    const last = this.#marks.at(-1);
    if (last && this.#arrived.at - last.at >= paceMs) this.#marks = [last, this.#arrived];
    if (bytes > this.heldBytes) this.#budget.hold(this, bytes);
  }

  complete(): void {
    this.isArriving = false;
  }

  end(): void {
    this.isArriving = false;
    this.heldBytes = 0;
    this.#reject(overloaded(allFull));
  }

  paceAt(now: number): number {
    const { at, bytes } = this.#arrived;
    const since = this.#marks[0];
    if (!since || now - at >= paceMs) return 0;
    return (bytes - since.bytes) / Math.max(1, (now - since.at) / 1000);
  }
}

/** When the budget is used up, the slowest upload of the senders over an equal share is ended. */
export class BodyBudget {
  readonly now: () => number;
  readonly #maxBytes: number;
  readonly #bodies = new Set<HeldBody>();

  constructor(maxBytes: number, now: () => number = () => performance.now()) {
    this.#maxBytes = maxBytes;
    this.now = now;
  }

  /** @throws SpoorError `overloaded` if the budget is used up, or the sender may need more than half of it */
  async withRoom<T>(userId: string, maxBytes: number, work: (room: Room) => Promise<T>): Promise<T> {
    const own = sum([...this.#bodies].filter((one) => one.userId === userId).map((one) => one.maxBytes));
    if (own > 0 && own + maxBytes > this.#maxBytes / 2) throw overloaded(ownFull);
    const body = new HeldBody(this, userId, maxBytes);
    this.#bodies.add(body);
    try {
      this.hold(body, 1);
      return await work(body);
    } finally {
      this.#bodies.delete(body);
    }
  }

  /** @throws SpoorError `overloaded` if no slower upload can be ended */
  hold(body: HeldBody, bytes: number): void {
    if (!body.isArriving) throw overloaded(allFull);
    body.heldBytes = Math.min(body.maxBytes, Math.ceil(bytes / stepBytes) * stepBytes);
    for (let slowest = this.#findExcess(body); slowest; slowest = this.#findExcess(body)) {
      slowest.end();
      if (slowest === body) throw overloaded(allFull);
    }
  }

  #findExcess(body: HeldBody): HeldBody | undefined {
    const held = new Map<string, number>();
    for (const { userId, heldBytes } of this.#bodies) held.set(userId, (held.get(userId) ?? 0) + heldBytes);
    const all = sum(held.values());
    const isLittle = (held.get(body.userId) ?? 0) <= this.#maxBytes * littlePart;
    const most = this.#maxBytes * (isLittle ? 1 : 1 - keptPart);
    if (all <= most || all === body.heldBytes) return undefined;
    const now = this.now();
    const greedy = [...this.#bodies].filter(
      ({ userId, isArriving }) => isArriving && (held.get(userId) ?? 0) > most / held.size,
    );
    const [slowest] = greedy.sort((a, b) => a.paceAt(now) - b.paceAt(now) || b.heldBytes - a.heldBytes);
    return slowest ?? body;
  }
}
