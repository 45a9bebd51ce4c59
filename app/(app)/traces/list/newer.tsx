"use client";
import { useEffect, useState } from "react";

import type { Changes } from "#lib/traces/schema";

const everyMs = 15_000;

export function Newer({ query, href }: { query: string; href: string }) {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const poll = async () => {
      if (document.visibilityState !== "visible") return;
      const response = await fetch(`/api/traces/changes?${query}`).catch(() => undefined);
      if (response?.ok) setCount(((await response.json()) as Changes).count);
    };
    const timer = setInterval(poll, everyMs);
    document.addEventListener("visibilitychange", poll);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", poll);
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
