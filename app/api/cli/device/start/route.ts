import { endpoint, route } from "#lib/api/route";
import { readOrigin } from "#lib/auth/audit";
import { startDeviceLogin } from "#lib/device/api";
import { startLogin } from "#lib/device/login";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(startDeviceLogin, ({ body, request }) =>
    startLogin(body.machine, readOrigin(request.headers), body.scopes),
  ),
});
