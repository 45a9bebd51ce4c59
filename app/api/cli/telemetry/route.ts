import { endpoint, parse, route } from "#lib/api/route";
import { optionalToken, requireScope, requireToken } from "#lib/auth/guards";
import { env } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { readMeasuredJson } from "#lib/http/body";
import { sendTelemetry } from "#lib/telemetry/api";
import { requireBudget, spendBudget } from "#lib/telemetry/budget";
import { limitAddress, limitDevice, recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(sendTelemetry, async ({ request, address }) => {
    await limitAddress(address);
    if (env().TELEMETRY_ANONYMOUS === "off") requireScope(await requireToken(request, address), "none");
    const sender = await optionalToken(request, address);
    await requireBudget(sender, address);
    const { bodyBytes, anonymousBodyBytes } = limits.telemetry;
    const { value, bytes } = await readMeasuredJson(request, sender ? bodyBytes : anonymousBodyBytes);
    const submission = parse(telemetryRequest, value);
    await limitDevice(submission.deviceId, sender);
    await spendBudget(submission, bytes, sender, address);
    return recordTelemetry(submission, sender);
  }),
});
