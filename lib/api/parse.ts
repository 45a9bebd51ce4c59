import type { z } from "zod";
import { notFound, SpoorError } from "#lib/core/errors";
import { fieldErrors } from "#lib/core/fields";

/** @throws SpoorError `invalid_request` with the failing paths */
export function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new SpoorError("invalid_request", undefined, { errors: fieldErrors(parsed.error) });
}

/** @throws SpoorError `not_found`, since an id that is not a UUID names nothing */
export function parseParams<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw notFound();
}
