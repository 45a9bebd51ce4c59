import { z } from "zod";
import { endpoint, route } from "#lib/api/route";
import { facetsOf } from "#lib/traces/facets";
import { readerZone } from "../../../components/zone";
import { readListParams } from "../filters";

const counted = z.array(z.object({ value: z.string(), count: z.int() }));
const response = z.object({ source: counted, model: counted, project: counted, machine: counted });

/** For the list's own menus: the values there are in each, with how many sessions of the filter have them. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "cookie", query: z.looseObject({}), response }, async ({ caller, query: given }) => {
    const { filter } = readListParams(given as Record<string, string>, await readerZone());
    return facetsOf(caller.userId, filter);
  }),
});
