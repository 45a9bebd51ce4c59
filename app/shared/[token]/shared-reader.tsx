"use client";
import { useMemo } from "react";
import { Reader, type ReaderProps } from "../../(app)/traces/[id]/reader";
import type { Supply } from "../../(app)/traces/[id]/segments/request";
import { loadSharedBody, loadSharedSegment } from "./load";

export function SharedReader({ token, ...props }: Omit<ReaderProps, "supply" | "traceId"> & { token: string }) {
  const supply = useMemo<Supply>(
    () => ({
      page: `/shared/${token}`,
      segment: (request, talk) => loadSharedSegment({ token, request, talk }),
      body: (body) => loadSharedBody({ token, ...body }),
    }),
    [token],
  );
  return <Reader {...props} supply={supply} />;
}
