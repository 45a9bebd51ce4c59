import "server-only";
import { findSecrets } from "#common/secrets/find-secrets";
import { beginRead } from "#lib/db/heavy";
import type { SharedRange } from "#lib/masking/for-others";
import { countHomes } from "#lib/masking/home-folders";
import { visitMessages } from "#lib/messages/read-messages";

export type Findings = {
  secrets: { kind: string; count: number; position: number }[];
  homes: number;
  isCut: boolean;
  messages: number;
};

/** A second of work; a shared page masks the whole part regardless. */
const maxBytes = 32 * 1024 * 1024;
const page = { limit: 500, maxBytes: 1024 * 1024, maxMessageBytes: 4 * 1024 * 1024 };

export async function checkForOthers(userId: string, traceId: string, range: SharedRange): Promise<Findings> {
  const end = await beginRead(userId, "outline");
  try {
    const kinds = new Map<string, { kind: string; count: number; position: number }>();
    const found: Findings = { secrets: [], homes: 0, isCut: false, messages: 0 };
    let bytes = 0;
    await visitMessages(userId, traceId, range, page, ({ position, content, metadata }) => {
      found.isCut = bytes > maxBytes;
      if (found.isCut) return false;
      const text = metadata ? `${content}\n${JSON.stringify(metadata)}` : content;
      bytes += text.length;
      found.messages += 1;
      found.homes += countHomes(text);
      for (const { kind } of findSecrets(text)) {
        const known = kinds.get(kind) ?? { kind, count: 0, position };
        kinds.set(kind, { ...known, count: known.count + 1 });
      }
    });
    return { ...found, secrets: [...kinds.values()] };
  } finally {
    end();
  }
}
