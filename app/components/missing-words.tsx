"use client";

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

/** The server's log has the reason for a failure under this id. */
export function RequestId({ id }: { id: string }) {
  return (
    <p className="text-meta text-muted">
      Request id: <code className="font-mono [overflow-wrap:anywhere]">{id}</code>
    </p>
  );
}
