"use client";
import { useMemo } from "react";
import { Reader, type ReaderProps } from "./reader";
import { loadBody, loadSegment } from "./segments/load";
import type { Supply } from "./segments/request";

export function OwnReader({ traceId, ...props }: Omit<ReaderProps, "supply" | "traceId"> & { traceId: string }) {
  const supply = useMemo<Supply>(
    () => ({
      page: `/traces/${traceId}`,
      segment: (request, talk) => loadSegment({ traceId, request, talk }),
      body: (body) => loadBody({ traceId, ...body }),
    }),
    [traceId],
  );
  return <Reader {...props} supply={supply} traceId={traceId} />;
}
