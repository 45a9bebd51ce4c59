import { z } from "zod";
import { withoutInvisible } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

const { traces: page } = limits;

/** Without invisible characters, which could make it look like another text. */
const oneLine = (text: string) => withoutInvisible(text.replace(/\s+/g, " ")).trim();

/** Lower case, so that spellings of a word are one tag. */
export const tagName = z
  .string()
  .max(2 * page.tag)
  .transform((text) => oneLine(text).replace(/^#/, "").toLowerCase())
  .pipe(
    z
      .string()
      .min(1, "must contain a letter or a digit")
      .max(page.tag)
      .regex(/^[^,]*$/, "must not contain commas"),
  );

/** Missing fields stay unchanged. */
export const marksShape = z
  .object({
    title: z.string().max(limits.trace.title).transform(oneLine).nullable(),
    starred: z.boolean(),
    archived: z.boolean(),
    note: z
      .string()
      .max(page.note)
      .transform((text) => text.replaceAll("\0", "").toWellFormed().trim())
      .nullable(),
    tags: z
      .array(tagName)
      .max(page.tags)
      .transform((tags) => [...new Set(tags)]),
  })
  .partial();
