"use client";
import { usePathname } from "next/navigation";

/** A link of the bar; it says so where its page is the current one. */
export function NavLink({ href, children }: { href: string; children: React.ReactNode }) {
  const path = usePathname();
  const current = path === href ? "page" : path.startsWith(`${href}/`) ? "true" : undefined;
  return (
    <a
      href={href}
      aria-current={current}
      className="flex items-center border-transparent border-y-2 px-2 text-muted hover:text-text aria-[current]:border-b-accent aria-[current]:text-text"
    >
      {children}
    </a>
  );
}
