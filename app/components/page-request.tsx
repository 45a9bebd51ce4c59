"use client";
import { createContext, useContext } from "react";

const PageRequest = createContext<string | undefined>(undefined);

export function PageRequestProvider({ id, children }: { id: string | undefined; children: React.ReactNode }) {
  return <PageRequest value={id}>{children}</PageRequest>;
}

export const usePageRequest = () => useContext(PageRequest);

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

export function RequestId({ id }: { id: string }) {
  return (
    <p className="text-meta text-muted">
      Request id: <code className="font-mono [overflow-wrap:anywhere]">{id}</code>
    </p>
  );
}
