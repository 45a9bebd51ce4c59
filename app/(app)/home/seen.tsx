"use client";
import { useEffect } from "react";

const seenMs = 3000;

export function Seen({ action }: { action: () => Promise<void> }) {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const watch = () => {
      clearTimeout(timer);
      if (document.visibilityState !== "visible") return;
      timer = setTimeout(() => {
        document.removeEventListener("visibilitychange", watch);
        action().catch(() => undefined); // the next visit shows the same news again
      }, seenMs);
    };
    watch();
    document.addEventListener("visibilitychange", watch);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", watch);
    };
  }, [action]);
  return (
    <noscript>
      <form action={action}>
        <button type="submit" className="button">
          I have read this
        </button>
      </form>
    </noscript>
  );
}
