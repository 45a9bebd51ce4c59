import { z } from "zod";
import { exactText } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

export const namesQuery = z.object({ q: exactText(1, limits.traces.nameQuery).optional() });

export const namesResponse = z.object({
  ok: z.literal(true),
  sessions: z.array(
    z.object({
      id: z.uuid(),
      title: z.string().nullable(),
      source: z.string(),
      project: z.string().nullable(),
      updatedAt: z.iso.datetime(),
    }),
  ),
  projects: z.array(z.object({ id: z.uuid(), name: z.string() })),
});
export type NamesResponse = z.input<typeof namesResponse>;
