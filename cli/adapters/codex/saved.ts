import type { SessionBuilder } from "../session-builder.ts";
import type { HeldMessages } from "./held-messages.ts";
import type { ScriptRuns } from "./script-runs.ts";
import type { TokenLedger } from "./token-ledger.ts";

/** A session as `Rollout.save` returns it. */
export type SavedRollout = {
  session: ReturnType<SessionBuilder["save"]>;
  ledger: ReturnType<TokenLedger["save"]>;
  held: ReturnType<HeldMessages["save"]>;
  scripts: ReturnType<ScriptRuns["save"]>;
} & Facts;

export type Facts = {
  model?: string | undefined;
  tier?: string | undefined;
  agentPath?: string | undefined;
  isAgent?: boolean | undefined;
  /** What a sub-agent that has its parent's history was given to do. */
  task?: string | undefined;
  isContinued?: boolean | undefined;
  /** The turn that lines belong to. */
  turn?: string | undefined;
  /** The first of the sessions that this one was forked from, or itself. */
  root?: string | undefined;
};
