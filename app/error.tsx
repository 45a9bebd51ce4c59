"use client";
import { RequestId, usePageRequest } from "./components/page-request";
import { PlainPage } from "./components/plain-page";

/**
 * The log has the cause under the digest and the request id. A failed action is a later request, so only its digest
 * matches.
 */
export default function ErrorPage({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  const requestId = usePageRequest();
  return (
    <PlainPage title="This page could not be shown">
      <p className="text-muted">Your stored sessions were not changed. It is safe to try again.</p>
      {requestId && <RequestId id={requestId} />}
      {error.digest && (
        <p className="text-meta text-muted">
          Error: <code className="font-mono">{error.digest}</code>
        </p>
      )}
      <p>
        <button type="button" onClick={reset} className="button button-accent">
          Try again
        </button>
      </p>
    </PlainPage>
  );
}
