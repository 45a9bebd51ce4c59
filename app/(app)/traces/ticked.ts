import { z } from "zod";
import { limits } from "#lib/limits";

/** The ids of the sessions that are ticked in a list; those of one page, so that they fit in an address. */
export const tickedIds = z.array(z.uuid()).max(limits.traces.maxPerPage);
