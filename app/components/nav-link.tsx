"use client";
import { usePathname } from "next/navigation";

type Props = { href: string; className: string; children: React.ReactNode };

export function NavLink({ href, className, children }: Props) {
  const path = usePathname();
  const isWithin = path.startsWith(`${href}/`) || (href === "/uploads" && path === "/upload");
  const current = path === href ? "page" : isWithin ? "true" : undefined;
  return (
    <a
      href={href}
      aria-current={current}
      onClick={({ currentTarget }) => currentTarget.closest("details")?.removeAttribute("open")}
      className={`nav-link ${className}`}
    >
      {children}
    </a>
  );
}
