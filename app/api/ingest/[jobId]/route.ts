import { z } from "zod";
import { endpoint, route } from "#lib/http/route";
import { getJob } from "#lib/ingest/jobs";
import { jobResponse } from "#lib/ingest/schema";

const params = z.object({ jobId: z.uuid() });

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({ auth: "cookie-or-bearer", params, response: jobResponse }, ({ caller, params }) =>
    getJob(caller.userId, params.jobId),
  ),
});
