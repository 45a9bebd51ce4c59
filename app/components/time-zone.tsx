"use client";
import { useRouter } from "next/navigation";
import { useEffect } from "react";

/** Tells the server the reader's zone by cookie; the first page is rendered once more with it. */
export function TimeZone() {
  const router = useRouter();
  useEffect(() => {
    const cookie = `spoor_tz=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}`;
    if (document.cookie.split("; ").includes(cookie)) return;
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not there over plain http
    document.cookie = `${cookie}; path=/; max-age=31536000; samesite=lax`;
    router.refresh();
  }, [router]);
  return null;
}
