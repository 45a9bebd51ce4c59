import { type Fields, isFields } from "../../files/json.ts";
import { asCount, asString } from "../values.ts";

/** Where nothing else tells, a parent's history ends at the first pause of more than this, in milliseconds. */
const maxPauseMs = 1000;

/** What a line tells about whose it is. */
type LineFacts = {
  /** The line's number in the thread's history; newer versions write it. */
  ordinal?: unknown;
  /** When it was written, in milliseconds since 1970. */
  at?: number | undefined;
  /** The turn that it begins or belongs to. */
  turnId?: string | undefined;
  /** When that turn began, in seconds since 1970. */
  startedAt?: unknown;
};

type Fork = {
  /** The fork's own id, of which the time can be told where it is a UUID of version 7. */
  id: string;
  /** When the fork began, in milliseconds since 1970. */
  began?: number | undefined;
  /** The number of the fork's own first line. */
  startOrdinal?: unknown;
  /** The turns in the parent's rollout; undefined where that can't be found, or tells none. */
  parentTurns?: ReadonlySet<string> | undefined;
};

/**
 * Tells a fork's own lines from its parent's, which stand before them and are often written anew, with new times: by the
 * number of its first own line, else by the first turn that the parent does not have, else by when turns began, else by the
 * first pause.
 */
export class ForkGate {
  readonly #fork: Fork;
  #isOpen = false;
  #knowsTurns: boolean;
  #previous: number | undefined;

  constructor(fork: Fork) {
    this.#fork = fork;
    this.#knowsTurns = fork.parentTurns !== undefined;
    this.#previous = fork.began;
  }

  /** Whether a line is the parent's. Lines must come in order. */
  replays({ ordinal, at, turnId, startedAt }: LineFacts): boolean {
    if (this.#isOpen) return false;
    const [number, start] = [asCount(ordinal), asCount(this.#fork.startOrdinal)];
    if (number !== undefined && start !== undefined) this.#isOpen = number >= start;
    else {
      const isOwn = turnId === undefined ? undefined : this.#isOwnTurn(turnId, startedAt);
      this.#knowsTurns ||= isOwn !== undefined;
      this.#isOpen = this.#knowsTurns ? isOwn === true : this.#isAfterPause(at);
    }
    return !this.#isOpen;
  }

  /** Whether a turn is the fork's own; undefined where nothing tells. */
  #isOwnTurn(turnId: string, startedAt: unknown): boolean | undefined {
    const { id, began, parentTurns } = this.#fork;
    if (parentTurns) return !parentTurns.has(turnId);
    const [own, turn, seconds] = [parseUuidTime(id), parseUuidTime(turnId), asCount(startedAt)];
    if (own !== undefined && turn !== undefined) return turn >= own;
    if (began === undefined || seconds === undefined) return undefined;
    const beganSeconds = Math.floor(began / 1000);
    return seconds === beganSeconds ? undefined : seconds > beganSeconds;
  }

  #isAfterPause(at: number | undefined): boolean {
    if (at === undefined) return false;
    const isAfter = this.#previous !== undefined && at - this.#previous > maxPauseMs;
    this.#previous = Math.max(at, this.#previous ?? at);
    return isAfter;
  }
}

/** The time in a UUID of version 7 (RFC 9562, section 5.7), in milliseconds since 1970. */
function parseUuidTime(id: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(id) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}

/** What a line tells about whose it is. @param at when it was written */
export const readLineFacts = ({ type, ordinal }: Fields, payload: Fields, at: string | undefined): LineFacts => ({
  ordinal,
  at: at ? Date.parse(at) : undefined,
  ...readTurn(type, payload),
});

/** The turn that a line begins or belongs to, as far as it tells. */
function readTurn(type: unknown, payload: Fields): { turnId?: string | undefined; startedAt?: unknown } {
  const about = payload.internal_chat_message_metadata_passthrough;
  if (type === "response_item") return { turnId: isFields(about) ? asString(about.turn_id) : undefined };
  const begins = type === "turn_context" || payload.type === "task_started" || payload.type === "turn_started";
  return begins ? { turnId: asString(payload.turn_id), startedAt: payload.started_at } : {};
}
