// SQL: a sum over a tree of sessions.
import { Prisma } from "#lib/generated/prisma/client";

/** What lib/traces/tokens.ts counts, of a row of `trace`. */
export const sumUsedTokens = Prisma.raw(`coalesce(nullif(input_tokens + output_tokens + cache_read_tokens
  + cache_write_5m_tokens + cache_write_1h_tokens, 0), token_count)`);
