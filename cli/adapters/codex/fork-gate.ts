import type { Fields } from "../../files/json.ts";
import { asCount, asFields, asString } from "../values.ts";

const maxPauseMs = 1000;

type LineFacts = {
  ordinal?: unknown;
  /** In milliseconds since 1970. */
  at?: number | undefined;
  turnId?: string | undefined;
  startedAt?: unknown;
};

type Fork = {
  /** A UUID of version 7 contains its time. */
  id: string;
  /** In milliseconds since 1970. */
  began?: number | undefined;
  startOrdinal?: unknown;
  parentTurns?: ReadonlySet<string> | undefined;
};

/**
 * Tells a fork's own lines from its parent's, which may have new times: by the number of the first own line, else by
 * turns that the parent lacks, else by the times of turns, else by the first pause.
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

  /** Lines must come in order. */
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

/** It returns milliseconds since 1970 (RFC 9562, section 5.7). */
function parseUuidTime(id: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(id) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}

export const readLineFacts = ({ type, ordinal }: Fields, payload: Fields, at: string | undefined): LineFacts => ({
  ordinal,
  at: at ? Date.parse(at) : undefined,
  ...readTurn(type, payload),
});

function readTurn(type: unknown, payload: Fields): { turnId?: string | undefined; startedAt?: unknown } {
  const about = payload.internal_chat_message_metadata_passthrough;
  if (type === "response_item") return { turnId: asString(asFields(about).turn_id) };
  const begins = type === "turn_context" || payload.type === "task_started" || payload.type === "turn_started";
  return begins ? { turnId: asString(payload.turn_id), startedAt: payload.started_at } : {};
}
