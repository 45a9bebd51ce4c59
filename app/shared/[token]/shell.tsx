"use client";
import { useCallback, useRef, useState } from "react";
import { useBodies } from "../../(app)/traces/[id]/folds/use-bodies";
import { useCopy } from "../../(app)/traces/[id]/messages/use-copy";
import type { BodyRequest } from "../../(app)/traces/[id]/segments/request";
import { loadSharedBody } from "./load";

/** The server's messages, with folds that load and buttons that copy. */
export function SharedShell({ token, children }: { token: string; children: React.ReactNode }) {
  const list = useRef<HTMLDivElement>(null);
  const [said, setSaid] = useState("");
  const load = useCallback((body: BodyRequest) => loadSharedBody({ token, ...body }), [token]);
  const bodies = useBodies(list, load);
  useCopy(list, "", setSaid);
  return (
    <>
      <div ref={list}>{children}</div>
      {bodies}
      <p role="status" className="sr-only">
        {said}
      </p>
    </>
  );
}
