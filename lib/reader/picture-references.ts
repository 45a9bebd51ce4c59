import { z } from "zod";
import { pictureTypes } from "#lib/evidence/picture-type";
import { pictureHash } from "#lib/fields";
import { limits } from "#lib/limits";

const reference = z.object({
  sha256: pictureHash,
  mediaType: z.enum(pictureTypes),
  bytes: z.int().min(1).max(limits.pictures.bytes),
});
export type PictureReference = z.output<typeof reference>;

export type ShownPicture = PictureReference & { isStored: boolean };

export function readReferences(metadata: Record<string, unknown> | null | undefined): PictureReference[] {
  const given = metadata?.pictures;
  if (!Array.isArray(given)) return [];
  return given.slice(0, limits.pictures.perMessage).flatMap((one) => reference.safeParse(one).data ?? []);
}
