import "#lib/messages";
import type { z } from "zod";
import { type FieldError, notFound, SpoorError } from "#lib/errors";

/** Validates a value of unknown shape. @throws SpoorError `invalid_request` with the failing paths */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new SpoorError("invalid_request", undefined, { errors: fieldErrors(parsed.error) });
}

/** Validates the parameters of a path. @throws SpoorError `not_found`: an id that is not a UUID names nothing */
export function parseParams<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw notFound();
}

/** The issues of a validation as an error's `errors`: at most 20. */
export function fieldErrors(error: z.ZodError): FieldError[] {
  return error.issues.slice(0, 20).map(({ path, message }) => ({ path: path.join("."), message }));
}
