// Runs in the decoding thread: secrets are masked in a batch before anything of it is stored, so that what is stored, hashed and
// compared is the masked batch alone: docs/decisions/0056.
import type { BatchMessage } from "#lib/ingest/decode/normalize";
import type { SentTrace } from "#lib/ingest/schema";
import { limits } from "#lib/limits";
import { Masker, type MaskingPolicy } from "#lib/masking/masker";

/** No role that an agent writes has as many characters as the shortest secret. */
const minRole = 10;

/** Whether a policy masks something of a trace. @param messages its messages as they are stored */
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

/** Fields with a greatest length: what stands for a secret may be longer than it. */
const bounds = { trace: limits.trace, message: { role: limits.message.role } };

/**
 * A valid trace as it was sent, masked: message by message, so that one that only grew begins as it did. What one of them tells to
 * be a secret is masked in all of them.
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
