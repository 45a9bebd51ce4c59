"use client";
import { useRouter } from "next/navigation";
import { useEffect } from "react";

export function TimeZone() {
  const router = useRouter();
  useEffect(() => {
    const cookie = `spoor_tz=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}`;
    if (document.cookie.split("; ").includes(cookie)) return;
    const secure = location.protocol === "https:" ? "; secure" : "";
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API does not exist over plain http
    document.cookie = `${cookie}; path=/; max-age=31536000; samesite=lax${secure}`;
    router.refresh();
  }, [router]);
  return null;
}
