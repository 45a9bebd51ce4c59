import { endpoint, reply, route } from "#lib/api/route";
import { SpoorError } from "#lib/core/errors";
import { receiveBatch, receiveForm } from "#lib/ingest/accept/request";
import { uploadFile } from "#lib/ingest/api";
import { processSoon } from "#server/background/after-response";
import { refusalHref } from "../../(app)/upload/refusal";

/** A browser's upload shows this name instead of a machine's. */
const machine = "browser";

/** In seconds, for hosts that bound a call: what is processed after the response counts. */
export const maxDuration = 60;

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(uploadFile, async ({ request, requestId, caller: { userId } }) => {
    if (isForm(request)) return seeOther(await hrefAfter(() => receiveForm(request, { userId, machine }), requestId));
    const jobId = await receiveBatch(request, { userId, machine });
    processSoon();
    return reply({ ok: true as const, jobId, status: "queued" as const }, 202, { Location: `/api/ingest/${jobId}` });
  }),
});

/** A browser without JavaScript submits the page's form. */
const isForm = (request: Request) => /^multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "");

const seeOther = (href: string) => new Response(null, { status: 303, headers: { Location: href } });

async function hrefAfter(receive: () => Promise<string>, requestId: string): Promise<string> {
  try {
    const jobId = await receive();
    processSoon();
    return `/uploads/${jobId}`;
  } catch (error) {
    if (!(error instanceof SpoorError)) throw error;
    return refusalHref(error, requestId);
  }
}
