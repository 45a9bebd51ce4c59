"use client";
import { useCallback, useRef, useState } from "react";
import { useBodies } from "../../(app)/traces/[id]/folds/use-bodies";
import { useCopy } from "../../(app)/traces/[id]/messages/use-copy";
import type { Markup } from "../../(app)/traces/[id]/segments/render";
import type { BodyRequest } from "../../(app)/traces/[id]/segments/request";
import { loadSharedBody } from "./load";

/** The server's messages, with folds that load and buttons that copy. */
export function SharedShell({ token, markup }: { token: string; markup: Markup }) {
  const list = useRef<HTMLDivElement>(null);
  const [said, setSaid] = useState("");
  const load = useCallback((body: BodyRequest) => loadSharedBody({ token, ...body }), [token]);
  useBodies(list, load);
  useCopy(list, "", setSaid);
  return (
    <>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: messages/markup.ts wrote it, by lists of elements and attributes */}
      <div ref={list} dangerouslySetInnerHTML={markup} />
      <p role="status" className="sr-only">
        {said}
      </p>
    </>
  );
}
