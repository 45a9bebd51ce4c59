import { endpoint, route } from "#lib/api/route";
import { readJob } from "#lib/ingest/api";
import { getJob } from "#lib/ingest/jobs";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint(readJob, ({ caller, params }) => getJob(caller.userId, params.jobId)),
});
