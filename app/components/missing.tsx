import { headers } from "next/headers";
import { requestIdHeader } from "#lib/http/request-id";
import { RequestId } from "./request-id";

/** The page for a missing object, and the same for another user's. */
export async function Missing() {
  const requestId = (await headers()).get(requestIdHeader);
  return (
    <>
      <p className="text-muted">
        The address may be mistyped, the session deleted, or it may belong to another account.
      </p>
      <p>
        <a href="/traces" className="link target">
          Go to your sessions
        </a>
      </p>
      {requestId && <RequestId id={requestId} />}
    </>
  );
}
