"use client";
import { useEffect, useState } from "react";

const everyMs = 15_000;

/** Says what came since the list was made, while it is being looked at, and leads to the list as it is by then. */
export function Newer({ query, href }: { query: string; href: string }) {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const look = async () => {
      if (document.visibilityState !== "visible") return;
      // Out of reach for a moment, or signed out: the next look or the next click tells.
      const response = await fetch(`/traces/newer?${query}`).catch(() => undefined);
      if (response?.ok && !response.redirected) setCount(((await response.json()) as { count: number }).count);
    };
    const timer = setInterval(look, everyMs);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [query]);
  return (
    <span role="status">
      {count > 0 && (
        <a href={href} className="link">
          {count >= 100 ? "100+" : count} new or changed ↑
        </a>
      )}
    </span>
  );
}
