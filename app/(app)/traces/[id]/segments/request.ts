import { z } from "zod";

const position = z.int().min(0).max(2_147_483_647);

/**
 * Which messages are asked for: behind a position, before one, round one, or exactly from one to another (what was shown
 * already and is shown again); with none of these, from the start.
 */
export const windowRequest = z.union([
  z.strictObject({ from: position, to: position }),
  z.strictObject({ before: position }),
  z.strictObject({ at: position }),
  z.strictObject({ after: position.optional() }),
]);
export type WindowRequest = z.output<typeof windowRequest>;

const inAddress = z
  .string()
  .regex(/^\d{1,10}$/)
  .transform(Number)
  .pipe(position);

/** The window that a page's address asks for; what cannot be understood is the start. */
export function requestOf(query: Record<string, string | string[] | undefined>): WindowRequest {
  for (const name of ["at", "before", "after"] as const) {
    const asked = inAddress.safeParse(query[name]);
    if (asked.success) return { [name]: asked.data } as WindowRequest;
  }
  return {};
}
