import { originOf } from "#lib/auth/audit";
import { startLogin } from "#lib/device/login";
import { startRequest, startResponse } from "#lib/device/schema";
import { endpoint, route } from "#lib/http/route";
import { limits } from "#lib/limits";

const body = { schema: startRequest, maxBytes: limits.device.bodyBytes };

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint({ auth: "none", body, response: startResponse }, ({ body, request }) =>
    startLogin(body.machine, originOf(request.headers)),
  ),
});
