"use client";
import { useRouter } from "next/navigation";
import { useEffect, useRef, useTransition } from "react";

export function Refresh({ everySeconds }: { everySeconds: number }) {
  const router = useRouter();
  const [refreshing, start] = useTransition();
  const busy = useRef(false);
  busy.current = refreshing;
  useEffect(() => {
    const refresh = () => {
      if (document.visibilityState === "visible" && !busy.current) start(() => router.refresh());
    };
    const timer = setInterval(refresh, everySeconds * 1000);
    document.addEventListener("visibilitychange", refresh);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refresh);
    };
  }, [router, everySeconds]);
  return null;
}
