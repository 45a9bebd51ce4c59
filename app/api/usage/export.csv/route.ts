import { endpoint, route } from "#lib/api/route";
import { answerUsage } from "#lib/usage/answer";
import { exportUsage } from "#lib/usage/api";
import { formatCsv } from "#lib/usage/csv";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(exportUsage, async ({ caller, query }) => {
    const headers = {
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": 'attachment; filename="spoor-usage.csv"',
    };
    return new Response(formatCsv(await answerUsage(caller.userId, query)), { headers });
  }),
});
