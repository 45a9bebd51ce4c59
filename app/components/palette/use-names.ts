import { useEffect, useState } from "react";
import type { NamesResponse } from "#lib/traces/names-schema";

const pauseMs = 60;

/** The last answer stays until the next one arrives. */
export function useNames(query: string, isOpen: boolean): { found: NamesResponse | undefined; hasFailed: boolean } {
  const [found, setFound] = useState<NamesResponse>();
  const [hasFailed, setFailed] = useState(false);
  const asked = query.trim();
  useEffect(() => {
    if (!isOpen) return;
    const leaving = new AbortController();
    const ask = async () => {
      const response = await fetch(`/api/names?${new URLSearchParams(asked ? { q: asked } : {})}`, {
        signal: leaving.signal,
      });
      if (!response.ok) throw new Error(`The names could not be read: ${response.status}`);
      setFound((await response.json()) as NamesResponse);
      setFailed(false);
    };
    const timer = setTimeout(() => ask().catch(() => setFailed(!leaving.signal.aborted)), asked ? pauseMs : 0);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [asked, isOpen]);
  return { found, hasFailed };
}
