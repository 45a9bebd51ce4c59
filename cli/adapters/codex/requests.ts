import { type Fields, isFields } from "../../files/json.ts";
import type { EntryFacts } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asString } from "../values.ts";
import type { DelayedMessages } from "./delayed-messages.ts";
import { findTier, TokenLedger } from "./token-ledger.ts";

export type RolloutFacts = {
  model?: string | undefined;
  tier?: string | undefined;
  agentPath?: string | undefined;
  isAgent?: boolean | undefined;
  task?: string | undefined;
  isContinued?: boolean | undefined;
  turn?: string | undefined;
  /** The first of the sessions that this one was forked from, or itself. */
  root?: string | undefined;
};

type RequestState = { isReplayed: boolean; threadId: string; facts: RolloutFacts };

export class RolloutRequests {
  readonly #delayed: DelayedMessages;
  readonly #countsCopies: boolean;
  #ledger = new TokenLedger();

  /** @param countsCopies whether the usage of copied answers is sent */
  constructor(delayed: DelayedMessages, countsCopies: boolean) {
    this.#delayed = delayed;
    this.#countsCopies = countsCopies;
  }

  save(): ReturnType<TokenLedger["save"]> {
    return this.#ledger.save();
  }

  resume(saved: ReturnType<TokenLedger["save"]>): void {
    this.#ledger = new TokenLedger(saved);
  }

  /** A record of another thread is counted there. */
  addRecord(record: Fields, { isReplayed, threadId, facts }: RequestState): false | undefined {
    const { response_id: requestId, thread_id: thread, usage } = record;
    const isOther = asString(thread) !== undefined && thread !== threadId;
    if (isOther && !isReplayed) return false;
    const added = this.#ledger.addRecord(usage);
    if (!added) return undefined;
    this.#send(added, { requestId, serviceTier: findTier(usage, record) ?? facts.tier, isReplayed });
    return false;
  }

  addTotal(info: Fields, event: Fields, { isReplayed, threadId, facts }: RequestState): void {
    const usage = this.#ledger.addTotal(info, !isReplayed && (facts.isContinued ?? false));
    const serviceTier = findTier(info.last_token_usage, info, event) ?? facts.tier;
    const from = facts.turn ?? facts.root ?? threadId;
    this.#send(usage, { requestId: makeRequestId(from, info.total_token_usage), serviceTier, isReplayed });
  }

  #send(usage: Usage | undefined, facts: EntryFacts): void {
    this.#delayed.send(facts.isReplayed && !this.#countsCopies ? undefined : usage, facts);
  }
}

/** A copied line has other times, but the same turn (or first session, in old versions) and total. */
const makeRequestId = (from: string, total: unknown): string | undefined =>
  isFields(total) ? `${from}+${total.input_tokens ?? 0}+${total.output_tokens ?? 0}` : undefined;
