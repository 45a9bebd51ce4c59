import { Prisma } from "#lib/generated/prisma/client";

/** Must match lib/traces/tokens.ts. */
export const sumUsedTokens = Prisma.raw(`coalesce(nullif(input_tokens + output_tokens + cache_read_tokens
  + cache_write_5m_tokens + cache_write_1h_tokens, 0), token_count)`);
