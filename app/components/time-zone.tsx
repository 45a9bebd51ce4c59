"use client";
import { useRouter } from "next/navigation";
import { useEffect } from "react";

/** Stores the reader's zone in a cookie and renders the first page again with it. */
export function TimeZone() {
  const router = useRouter();
  useEffect(() => {
    const cookie = `spoor_tz=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}`;
    if (document.cookie.split("; ").includes(cookie)) return;
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API does not exist over plain http
    document.cookie = `${cookie}; path=/; max-age=31536000; samesite=lax`;
    router.refresh();
  }, [router]);
  return null;
}
