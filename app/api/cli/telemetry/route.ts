import { parse } from "#lib/api/parse";
import { endpoint, route } from "#lib/api/route";
import { optionalToken } from "#lib/auth/guards";
import { readJson } from "#lib/http/body";
import { limits } from "#lib/limits";
import { sendTelemetry } from "#lib/telemetry/api";
import { limitAddress, limitDevice, recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(sendTelemetry, async ({ request, address }) => {
    await limitAddress(address);
    const submission = parse(telemetryRequest, await readJson(request, limits.telemetry.bodyBytes));
    await limitDevice(submission.deviceId);
    return recordTelemetry(submission, await optionalToken(request, address));
  }),
});
