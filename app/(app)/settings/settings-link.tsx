"use client";
import { usePathname } from "next/navigation";
import { useEffect, useRef } from "react";

export function SettingsLink({ href, children }: { href: string; children: React.ReactNode }) {
  const current = usePathname() === href ? "page" : undefined;
  const own = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    const [link, row] = [own.current, own.current?.parentElement];
    // `scrollIntoView` would move the start of Tab.
    if (current && link && row)
      row.scrollLeft += link.getBoundingClientRect().right - row.getBoundingClientRect().right;
  }, [current]);
  return (
    <a
      ref={own}
      href={href}
      aria-current={current}
      className="flex items-center py-1 text-muted hover:text-text aria-[current]:font-medium aria-[current]:text-accent pointer-coarse:min-h-11"
    >
      {children}
    </a>
  );
}
