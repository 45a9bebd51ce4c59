import { z } from "zod";

/** The years that every part of the system can write: PostgreSQL has no year 0, ISO 8601 four digits. */
const earliest = Date.parse("0001-01-01T00:00:00Z");
const latest = Date.parse("9999-12-31T23:59:59.999Z");

/** A moment, as clients send it: ISO 8601 with an offset or Z, in the years 1 to 9999 of UTC. */
export const instant = z.iso
  .datetime({ offset: true, error: "must be an ISO 8601 date-time with an offset or Z", abort: true })
  .refine((text) => Date.parse(text) >= earliest && Date.parse(text) <= latest, "must be in the years 1 to 9999 (UTC)");

/** A moment as PostgreSQL takes it in every case: it knows offsets below 16 hours alone, and some number of decimals. */
export const utcInstant = instant.transform((text) => new Date(text).toISOString());

/** A text that must be stored exactly as it is, or not at all. */
export const exactText = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => text.isWellFormed() && !text.includes("\0"), "must not contain U+0000 or a lone surrogate");
