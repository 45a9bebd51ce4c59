import { z } from "zod";
import { endpoint, route } from "#lib/api/route";
import { utcInstant } from "#lib/fields";
import { countNewer } from "#lib/traces/facets";
import { readerZone } from "../../../components/zone";
import { readListParams } from "../filters";

const query = z.looseObject({ id: z.uuid(), than: utcInstant });
const response = z.object({ ok: z.literal(true), count: z.int() });

/** For the list's own page: how many sessions of its filter stand before its first one by now, up to 100. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "cookie", query, response }, async ({ caller, query: { id, than, ...given } }) => {
    const { filter } = readListParams(given as Record<string, string>, await readerZone());
    const count = await countNewer(caller.userId, filter, { id, updatedAt: than }, 100);
    return { ok: true as const, count };
  }),
});
