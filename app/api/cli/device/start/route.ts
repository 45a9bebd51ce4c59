import { originOf } from "#lib/auth/audit";
import { startDeviceLogin } from "#lib/device/api";
import { startLogin } from "#lib/device/login";
import { endpoint, route } from "#lib/http/route";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(startDeviceLogin, ({ body, request }) => startLogin(body.machine, originOf(request.headers))),
});
