import { z } from "zod";
import { endpoint, idParams, route } from "#lib/api/route";
import { countAround } from "#lib/traces/messages";
import { getTrace } from "#lib/traces/queries";

const growthQuery = z.object({
  after: z
    .string()
    .regex(/^\d{1,10}$/)
    .transform(Number)
    .pipe(z.int().max(2_147_483_647)),
});
const growthShape = z.object({ messages: z.int() });

/** How many messages there are behind a position: what an open page asks every few seconds. */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(
    { auth: "cookie", params: idParams, query: growthQuery, response: growthShape },
    async ({ caller, params, query }) => {
      await getTrace(caller.userId, params.id);
      return { messages: (await countAround(caller.userId, params.id, query.after)).behind };
    },
  ),
});
