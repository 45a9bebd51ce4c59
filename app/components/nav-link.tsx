"use client";
import { usePathname } from "next/navigation";

/** A link of the bar, or of the sheet that stands for it on a phone; it says so where its page is the current one. */
export function NavLink({ href, children }: { href: string; children: React.ReactNode }) {
  const path = usePathname();
  const current = path === href ? "page" : path.startsWith(`${href}/`) ? "true" : undefined;
  return (
    <a
      href={href}
      aria-current={current}
      className="flex items-center border-transparent px-2 text-muted hover:text-text aria-[current]:text-text max-sm:min-h-11 max-sm:border-l-2 max-sm:aria-[current]:border-l-accent max-sm:aria-[current]:font-medium sm:border-y-2 sm:aria-[current]:border-b-accent"
    >
      {children}
    </a>
  );
}
