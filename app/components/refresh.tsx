"use client";
import { useRouter } from "next/navigation";
import { useEffect } from "react";

/** Renders the page anew every so often while it is being looked at. */
export function Refresh({ everySeconds }: { everySeconds: number }) {
  const router = useRouter();
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && router.refresh(), everySeconds * 1000);
    return () => clearInterval(timer);
  }, [router, everySeconds]);
  return null;
}
