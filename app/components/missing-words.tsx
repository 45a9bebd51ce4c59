"use client";
import { RequestId } from "./request-id";

/** A client component, since every page includes its "not found" twice. */
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
