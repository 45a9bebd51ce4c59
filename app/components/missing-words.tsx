"use client";
import { RequestId } from "./request-id";

/** A client component, since every page brings its "not found" along, twice, and a server component's words go with it. */
export function MissingWords({ requestId }: { requestId: string | null }) {
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
