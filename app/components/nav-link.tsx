"use client";
import { usePathname } from "next/navigation";

/** A link of the navigation bar or, on a phone, of its sheet; marked where its page is the current one. */
export function NavLink({ href, children }: { href: string; children: React.ReactNode }) {
  const path = usePathname();
  const isWithin = path.startsWith(`${href}/`) || (href === "/uploads" && path === "/upload");
  const current = path === href ? "page" : isWithin ? "true" : undefined;
  return (
    <a href={href} aria-current={current} className="nav-link">
      {children}
    </a>
  );
}
