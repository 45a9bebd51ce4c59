// docs/decisions/0056.

import { limits } from "#lib/core/limits";
import type { BatchMessage } from "#lib/ingest/decode/normalize";
import type { SentTrace } from "#lib/ingest/schema";
import { Masker, type MaskingPolicy } from "#lib/masking/masker";

/** Shorter than any secret, longer than agents' roles. */
const minRole = 10;

export function hasToMask(policy: MaskingPolicy, trace: SentTrace, messages: readonly BatchMessage[]): boolean {
  const masker = new Masker(policy, trace);
  const { messages: _messages, ...fields } = trace;
  if (masker.wouldMask(JSON.stringify(fields))) return true;
  return messages.some(
    ({ role, content, metadata }) =>
      (role !== null && role.length >= minRole && masker.wouldMask(role)) ||
      masker.wouldMask(content) ||
      (metadata !== null && masker.wouldMask(metadata)),
  );
}

/** A mask may be longer than its secret. */
const bounds = { trace: limits.trace, message: { role: limits.message.role } };

/**
 * Masks each message separately, so that the first messages of a grown trace stay the same. A secret found in one message
 * is masked in all.
 */
export function maskTrace(trace: Record<string, unknown>, policy: MaskingPolicy): Record<string, unknown> {
  const {
    source = "unknown",
    sourceId,
    project,
    metadata,
  } = trace as { source?: string; sourceId: string } & typeof trace;
  const masker = new Masker(policy, { source, sourceId, project, metadata });
  const { messages, ...fields } = trace as { messages: unknown[] };
  const own = masker.value(fields) as Record<string, unknown>;
  const rows = messages.map((message) => masker.value(message));
  const masked = { ...masker.withoutEchoes(own), source, sourceId };
  const maskedMessages = rows.map((message) => withinBounds(masker.withoutEchoes(message), bounds.message));
  return { ...withinBounds(masked, bounds.trace), messages: maskedMessages };
}

function withinBounds<T>(fields: T, most: Record<string, number>): T {
  const texts = fields as Record<string, unknown>;
  for (const [name, max] of Object.entries(most)) {
    const text = texts[name];
    if (typeof text === "string" && text.length > max) texts[name] = [...text].slice(0, max).join("");
  }
  return fields;
}
