import { z } from "zod";

/** What finding in a session answers; a place is a position and how often the text stands in its message. */
export const foundShape = z.object({
  total: z.int(),
  messages: z.int(),
  places: z.array(z.tuple([z.int(), z.int()])),
});
export type Found = z.output<typeof foundShape>;
