import { z } from "zod";

export const metadataShape = z.record(z.string(), z.unknown()).nullable();

export const messageShape = z.object({
  position: z.int(),
  role: z.string().nullable(),
  content: z.string(),
  tokenCount: z.int().nullable(),
  createdAt: z.iso.datetime().nullable(),
  metadata: metadataShape,
});
export type Message = z.input<typeof messageShape>;

export const matchesShape = z.object({
  total: z.int(),
  messages: z.int(),
  places: z.array(z.tuple([z.int(), z.int()])),
});
export type Matches = z.output<typeof matchesShape>;
