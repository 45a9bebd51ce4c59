import { z } from "zod";
import { limits } from "#lib/core/limits";
import { chosenQuery, wholeNumber } from "#lib/traces/schema";

const masked = z.enum(["secrets", "all"]);
export type Masked = z.output<typeof masked>;

const maskedField = masked
  .optional()
  .describe(
    "Masks for others: `secrets` replaces possible secrets with `[redacted:KIND]`, `all` also hides names of home folders, users and machines.",
  );

export const exportQuery = chosenQuery.extend({ masked: maskedField });
export const jsonQuery = z.object({ masked: maskedField });

/** `from`, `to` and `plain` apply to Markdown for GitHub. */
export const markdownQuery = z.object({
  for: z.enum(["github"]).optional(),
  from: wholeNumber(0, limits.message.integer).optional(),
  to: wholeNumber(0, limits.message.integer).optional(),
  plain: z.enum(["1"]).optional(),
  masked: maskedField,
});
