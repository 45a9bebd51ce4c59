import { z } from "zod";
import { exactText, utcInstant, wholeNumber } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

const { traces: page } = limits;

const fileActions = ["any", "changed", "read"] as const;
export type FileAction = (typeof fileActions)[number];

const ofFiles = {
  action: z.enum(fileActions).default("any"),
  cursor: z.string().min(1).max(page.fileCursor).optional(),
};

const fileShape = z.object({
  path: z.string(),
  reads: z.int(),
  edits: z.int(),
  added: z.int(),
  removed: z.int(),
  firstPosition: z.int(),
  lastPosition: z.int(),
});

export const traceFilesQuery = z.object({
  ...ofFiles,
  limit: wholeNumber(1, page.maxFilesPerPage).default(page.filesPerPage),
});

export const traceFilesResponse = z.object({
  ok: z.literal(true),
  files: z.array(fileShape),
  pending: z.boolean(),
  cut: z.boolean(),
  nextCursor: z.string().nullable(),
});

export const filesQuery = z.object({
  path: exactText(1, page.filePath),
  from: utcInstant.optional(),
  to: utcInstant.optional(),
  ...ofFiles,
  limit: wholeNumber(1, page.maxPerPage).default(page.perPage),
});

const touchedShape = z.object({
  traceId: z.uuid(),
  source: z.string(),
  title: z.string().nullable(),
  project: z.string().nullable(),
  updatedAt: z.iso.datetime(),
  dated: z.boolean(),
  ...fileShape.shape,
});
export type Touched = z.output<typeof touchedShape>;

export const filesResponse = z.object({
  ok: z.literal(true),
  files: z.array(touchedShape),
  nextCursor: z.string().nullable(),
});
