"use client";
import { usePathname } from "next/navigation";

/** A link of the settings navigation, marked where its page is open. */
export function SettingsLink({ href, children }: { href: string; children: React.ReactNode }) {
  const current = usePathname() === href ? "page" : undefined;
  return (
    <a
      href={href}
      aria-current={current}
      className="flex items-center py-1 text-muted hover:text-text aria-[current]:font-medium aria-[current]:text-accent pointer-coarse:min-h-11"
    >
      {children}
    </a>
  );
}
