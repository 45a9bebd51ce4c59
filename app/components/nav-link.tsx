"use client";
import Link, { useLinkStatus } from "next/link";
import { usePathname } from "next/navigation";
import { useEffect } from "react";

type Props = { href: string; className: string; children: React.ReactNode };

/** A link of the navigation bar or of the menu; marked where its page is the current one. It replaces the page without a reload. */
export function NavLink({ href, className, children }: Props) {
  const path = usePathname();
  const isWithin = path.startsWith(`${href}/`) || (href === "/uploads" && path === "/upload");
  const current = path === href ? "page" : isWithin ? "true" : undefined;
  return (
    <Link
      href={href}
      prefetch={false} // a page costs the server its reads, whether it is opened or not
      aria-current={current}
      onClick={({ currentTarget }) => currentTarget.closest("details")?.removeAttribute("open")}
      className={`nav-link ${className}`}
    >
      {children}
      <Pending />
    </Link>
  );
}

/** How long a page may take before its shape is shown. */
const shapeAfterMs = 200;

/** Has the layout show a page's shape while the link's own takes long (`Shapes`). */
function Pending() {
  const { pending } = useLinkStatus();
  useEffect(() => {
    if (!pending) return;
    const { dataset } = document.documentElement;
    const timer = setTimeout(() => {
      dataset.loading = "true";
    }, shapeAfterMs);
    return () => {
      clearTimeout(timer);
      delete dataset.loading;
    };
  }, [pending]);
  return null;
}
