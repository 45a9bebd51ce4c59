"use client";
import { useEffect, useState } from "react";

const everySeconds = 10;

/** Asks now and then, while the page is looked at, how many messages have come behind the last one that is loaded. */
export function useGrowth(traceId: string, last: number, whole: boolean): number {
  const [grown, setGrown] = useState({ behind: last, messages: 0 });
  useEffect(() => {
    if (!whole) return;
    const ask = async () => {
      if (document.visibilityState !== "visible") return;
      const response = await fetch(`/traces/${traceId}/growth?after=${last}`).catch(() => undefined);
      if (!response?.ok) return; // the next one asks again
      const { messages } = (await response.json()) as { messages: number };
      setGrown({ behind: last, messages });
    };
    const timer = setInterval(ask, everySeconds * 1000);
    return () => clearInterval(timer);
  }, [traceId, last, whole]);
  return whole && grown.behind === last ? grown.messages : 0;
}
