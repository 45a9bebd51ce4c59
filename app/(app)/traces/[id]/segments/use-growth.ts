"use client";
import { useEffect, useState } from "react";
import type { Growth } from "#lib/traces/schema";
import type { Standing } from "#lib/traces/standing";

const everySeconds = 10;

type Grown = Growth & { after: number };

export function useGrowth(traceId: string | undefined, last: number, whole: boolean, standing: Standing): Growth {
  const [grown, setGrown] = useState<Grown>({ after: last, messages: 0, ...standing });
  useEffect(() => {
    if (!whole || traceId === undefined) return;
    let timer = 0;
    const ask = async () => {
      const response = await fetch(`/api/traces/${traceId}/growth?after=${last}`).catch(() => undefined);
      if (!response?.ok) return;
      const { messages, live, waiting } = (await response.json()) as Growth;
      setGrown({ after: last, messages, live, waiting });
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
  return { ...grown, messages: whole && grown.after === last ? grown.messages : 0 };
}
