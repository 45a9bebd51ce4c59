import { endpoint, reply, route } from "#lib/api/route";
import { SpoorError } from "#lib/errors";
import { receiveBatch, receiveForm } from "#lib/ingest/accept/request";
import { ingestResponse } from "#lib/ingest/schema";
import { refusalHref } from "../refusal";

/** What an upload from a browser says where an upload from a command line names its machine. */
const machine = "browser";

/**
 * For the page's own script, what `POST /api/ingest` is for clients: that route takes tokens alone. It stands outside of
 * /api, and middleware.ts leaves it out. A form without script comes here as well, and is answered with a page.
 */
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint({ auth: "cookie", response: ingestResponse }, async ({ request, caller: { userId } }) => {
    if (/^multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "")) {
      return seeOther(await hrefAfter(() => receiveForm(request, { userId, machine })));
    }
    const jobId = await receiveBatch(request, { userId, machine });
    return reply({ ok: true as const, jobId, status: "queued" as const }, 202, { Location: `/api/ingest/${jobId}` });
  }),
});

const seeOther = (href: string) => new Response(null, { status: 303, headers: { Location: href } });

/** Where a form leads: to its job, or back to the page with what was wrong. */
async function hrefAfter(receive: () => Promise<string>): Promise<string> {
  try {
    return `/uploads/${await receive()}`;
  } catch (error) {
    if (!(error instanceof SpoorError)) throw error;
    return refusalHref(error);
  }
}
