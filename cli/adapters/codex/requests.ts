import { type Fields, isFields } from "../../files/json.ts";
import type { EntryFacts } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asString } from "../values.ts";
import type { HeldMessages } from "./held-messages.ts";
import type { Facts } from "./saved.ts";
import { findTier, TokenLedger } from "./token-ledger.ts";

/** The state of the rollout at a line that tells of a request. */
type Known = { isReplayed: boolean; threadId: string; facts: Facts };

/** Gives the messages of a rollout what their requests used. */
export class Requests {
  readonly #held: HeldMessages;
  readonly #countsCopies: boolean;
  #ledger = new TokenLedger();

  /** @param countsCopies whether what copied answers used is told, which then counts where no other session has it */
  constructor(held: HeldMessages, countsCopies: boolean) {
    this.#held = held;
    this.#countsCopies = countsCopies;
  }

  save(): ReturnType<TokenLedger["save"]> {
    return this.#ledger.save();
  }

  /** @param saved what `save` returned */
  resume(saved: ReturnType<TokenLedger["save"]>): void {
    this.#ledger = new TokenLedger(saved);
  }

  /** A request's own record. One of another thread is counted there. @returns undefined for an invalid one */
  addRecord(record: Fields, { isReplayed, threadId, facts }: Known): false | undefined {
    const { response_id: requestId, thread_id: thread, usage } = record;
    const isOther = asString(thread) !== undefined && thread !== threadId;
    if (isOther && !isReplayed) return false;
    const added = this.#ledger.addRecord(usage);
    if (!added) return undefined;
    this.#send(added, { requestId, serviceTier: findTier(usage, record) ?? facts.tier, isReplayed });
    return false;
  }

  /** A report of the running total. */
  addTotal(info: Fields, event: Fields, { isReplayed, threadId, facts }: Known): void {
    const usage = this.#ledger.addTotal(info, !isReplayed && (facts.isContinued ?? false));
    const serviceTier = findTier(info.last_token_usage, info, event) ?? facts.tier;
    const from = facts.turn ?? facts.root ?? threadId;
    this.#send(usage, { requestId: requestAt(from, info.total_token_usage), serviceTier, isReplayed });
  }

  #send(usage: Usage | undefined, facts: EntryFacts): void {
    this.#held.send(facts.isReplayed && !this.#countsCopies ? undefined : usage, facts);
  }
}

/**
 * Stands for the id of a request that has none: a copy of its line has other times, but the same turn, or in old versions the same
 * first session, and the same total.
 */
const requestAt = (from: string, total: unknown): string | undefined =>
  isFields(total) ? `${from}+${total.input_tokens ?? 0}+${total.output_tokens ?? 0}` : undefined;
