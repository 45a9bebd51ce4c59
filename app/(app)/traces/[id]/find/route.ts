import { z } from "zod";
import { endpoint, idParams, route } from "#lib/api/route";
import { exactText } from "#lib/fields";
import { limits } from "#lib/limits";
import { findInMessages } from "#lib/traces/find";
import { getTrace } from "#lib/traces/queries";
import { foundShape } from "../found";

const findQuery = z.object({ q: exactText(1, limits.traces.query) });

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(
    { auth: "cookie", params: idParams, query: findQuery, response: foundShape },
    async ({ caller, params, query }) => {
      await getTrace(caller.userId, params.id);
      return findInMessages(caller.userId, params.id, query.q);
    },
  ),
});
