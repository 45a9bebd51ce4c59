import { z } from "zod";
import { limits } from "#lib/core/limits";

const { traces: page } = limits;

/** `open` is stored unmasked, `masking` will be masked soon, `kept` was dismissed by its user. */
export const findingState = z.enum(["open", "masking", "masked", "kept"]);

const kindName = z.string().regex(/^[a-z\d][a-z\d-]{0,39}$/, "must be the id of a kind");
const mark = z.string().regex(/^[0-9a-f]{8}$/, "must be eight hexadecimal digits");

export const findingsQuery = z.object({
  kind: kindName.optional().describe("Only secrets of this kind."),
  state: findingState.optional().describe("Only secrets in this state."),
  mark: mark.optional().describe("Only the secret with this mark."),
  trace: z.uuid().optional().describe("Only secrets of this trace."),
  project: z.uuid().optional().describe("Only secrets in traces of the project with this id."),
  days: z.coerce.number().int().min(1).max(3650).optional().describe("Only secrets found in this number of days."),
  cursor: z.string().max(page.findingCursor).optional().describe("`nextCursor` of the previous page."),
  limit: z.coerce.number().int().min(1).max(page.maxPerPage).default(page.perPage),
});

const findingShape = z.object({
  kind: z.string(),
  name: z.string(),
  certain: z.boolean(),
  mark: z.string(),
  state: findingState,
  traceId: z.uuid(),
  title: z.string().nullable(),
  project: z.string().nullable(),
  projectId: z.uuid().nullable(),
  positions: z.array(z.int()),
  count: z.int(),
  at: z.iso.datetime(),
  dated: z.boolean(),
  rotate: z.string(),
});

export const findingsResponse = z.object({
  ok: z.literal(true),
  findings: z.array(findingShape),
  nextCursor: z.string().nullable(),
});

export const rulingForm = z.object({
  kind: kindName,
  mark,
  trace: z.uuid().optional(),
  verdict: z.enum(["mask", "keep"]),
});

/** `until` is when the stop ends. */
export const maskingForm = z.object({
  project: z.union([z.uuid(), z.literal("").transform(() => undefined)]),
  until: z.enum(["tomorrow", "on"]).optional(),
});

export type FindingsQuery = z.output<typeof findingsQuery>;
export type FoundSecret = z.output<typeof findingShape>;
export type FindingState = z.output<typeof findingState>;
