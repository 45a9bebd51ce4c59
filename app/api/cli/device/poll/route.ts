import { originOf } from "#lib/auth/audit";
import { pollLogin } from "#lib/device/login";
import { pollQuery, pollResponse } from "#lib/device/schema";
import { endpoint, reply, route } from "#lib/http/route";

// The poll after the approval redeems the code, so a HEAD must never run it.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  {
    GET: endpoint({ auth: "none", query: pollQuery, response: pollResponse }, async ({ query, request }) => {
      const poll = await pollLogin(query.deviceCode, originOf(request.headers));
      return poll.status === "approved" ? poll : reply(poll, 202, { "Retry-After": String(poll.interval) });
    }),
  },
  { head: false },
);
