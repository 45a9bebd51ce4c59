"use client";
import { useEffect, useState } from "react";
import type { Growth } from "#lib/traces/schema";
import type { Standing } from "#lib/traces/standing";

const everySeconds = 10;

type Grown = Growth & { after: number };
type Take = (growth: Growth) => void;

/** Pushed by the server while the page is visible; asked for where the server can't push. */
export function useGrowth(traceId: string | undefined, last: number, whole: boolean, standing: Standing): Growth {
  const [grown, setGrown] = useState<Grown>({ after: last, messages: 0, ...standing });
  useEffect(() => {
    if (!whole || traceId === undefined) return;
    const take: Take = ({ messages, live, waiting }) => setGrown({ after: last, messages, live, waiting });
    let stop: (() => void) | undefined;
    const onVisibility = () => {
      stop?.();
      stop =
        document.visibilityState === "visible" ? watch(`/api/traces/${traceId}/growth?after=${last}`, take) : undefined;
    };
    onVisibility();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      stop?.();
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [traceId, last, whole]);
  return { ...grown, messages: whole && grown.after === last ? grown.messages : 0 };
}

/** @returns a function that ends it */
function watch(address: string, take: Take): () => void {
  let timer = 0;
  const source = new EventSource(address);
  source.addEventListener("message", ({ data }) => take(JSON.parse(data) as Growth));
  // An answer that is no stream closes it for good; a lost connection is tried again.
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) timer ||= window.setInterval(ask, everySeconds * 1000);
  });
  const ask = async () => {
    const response = await fetch(address).catch(() => undefined);
    if (response?.ok) take((await response.json()) as Growth);
  };
  return () => {
    source.close();
    clearInterval(timer);
  };
}
