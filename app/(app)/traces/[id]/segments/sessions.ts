import "server-only";
import { findStarted, type Started } from "#lib/traces/family";
import type { Message } from "#lib/traces/queries";
import { formatQuantity } from "../../../../components/figures";
import { formatMoney } from "../../../../components/money";
import { formatMilliseconds } from "../messages/clock";
import type { Sessions } from "../messages/scene";

const maxSessions = 300;

/** Finds the sub-agents' sessions that messages name. */
export async function findStartedSessions(userId: string, traceId: string, messages: Message[]): Promise<Sessions> {
  const named = new Set(messages.flatMap(({ metadata }) => namedIn(metadata)));
  const started = await findStarted(userId, traceId, [...named].slice(0, maxSessions));
  return Object.fromEntries(
    [...started].map(([sourceId, session]) => [sourceId, { href: `/traces/${session.id}`, text: describeStarted(session) }]),
  );
}

function namedIn(metadata: Message["metadata"]): string[] {
  const result = metadata?.result;
  const session = typeof result === "object" && result !== null && "session" in result ? result.session : undefined;
  return typeof session === "string" && session !== "" ? [session] : [];
}

function describeStarted({ messages, costNano, seconds }: Started): string {
  const facts = [
    formatQuantity(messages, "message"),
    costNano > 0 && formatMoney(costNano),
    seconds > 0 && formatMilliseconds(seconds * 1000),
  ];
  return ["Its session", ...facts].filter(Boolean).join(" · ");
}
