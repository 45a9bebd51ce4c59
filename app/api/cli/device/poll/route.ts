import { endpoint, reply, route } from "#lib/api/route";
import { readOrigin } from "#lib/auth/audit";
import { pollDeviceLogin } from "#lib/device/api";
import { pollLogin } from "#lib/device/login";

// The poll after the approval redeems the code, so a HEAD must never run it.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route(
  {
    GET: endpoint(pollDeviceLogin, async ({ query, request }) => {
      const poll = await pollLogin(query.deviceCode, readOrigin(request.headers));
      return poll.status === "approved" ? poll : reply(poll, 202, { "Retry-After": String(poll.interval) });
    }),
  },
  { head: false },
);
