import { endpoint, route } from "#lib/api/route";
import { answerUsage } from "#lib/usage/answer";
import { readUsageReport } from "#lib/usage/api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readUsageReport, ({ caller, query }) => answerUsage(caller.userId, query)),
});
