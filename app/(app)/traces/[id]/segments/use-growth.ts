"use client";
import { useEffect, useState } from "react";

const everySeconds = 10;

/**
 * Asks now and then how many messages have come after the last one that is loaded; not while the tab is hidden, and at once
 * when it is shown again.
 */
export function useGrowth(traceId: string, last: number, whole: boolean): number {
  const [grown, setGrown] = useState({ after: last, messages: 0 });
  useEffect(() => {
    if (!whole) return;
    let timer = 0;
    const ask = async () => {
      const response = await fetch(`/api/traces/${traceId}/growth?after=${last}`).catch(() => undefined);
      if (!response?.ok) return; // the next one asks again
      const { messages } = (await response.json()) as { messages: number };
      setGrown({ after: last, messages });
    };
    const schedule = () => {
      clearInterval(timer);
      if (document.visibilityState === "visible") timer = window.setInterval(ask, everySeconds * 1000);
    };
    const onVisibility = () => {
      schedule();
      if (document.visibilityState === "visible") ask();
    };
    schedule();
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [traceId, last, whole]);
  return whole && grown.after === last ? grown.messages : 0;
}
