"use client";
import { useCallback } from "react";
import type { Markup } from "../../(app)/traces/[id]/segments/render";
import type { BodyRequest } from "../../(app)/traces/[id]/segments/request";
import { SharedMessages } from "../../(app)/traces/[id]/share/shared-messages";
import { loadSharedBody } from "./load";

/** The messages of a link, whose folds load with the link. */
export function SharedShell({ token, markup }: { token: string; markup: Markup }) {
  const load = useCallback((body: BodyRequest) => loadSharedBody({ token, ...body }), [token]);
  return <SharedMessages markup={markup} load={load} />;
}
