"use client";
import { PlainPage } from "./components/plain-page";

/** What went wrong is for the log; the page says what is safe and how to find the log's line. */
export default function ErrorPage({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <PlainPage title="This page could not be shown">
      <p className="text-muted">Nothing that is stored was changed by this. Trying again is safe.</p>
      {error.digest && (
        <p className="text-meta text-muted">
          In the server's log: <code className="font-mono">{error.digest}</code>
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
