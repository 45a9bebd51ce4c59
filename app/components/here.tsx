"use client";
import { usePathname } from "next/navigation";
import { pages } from "./pages";

/** The name of the current page's section. */
export function Here() {
  const path = usePathname();
  if (path === "/upload") return "Uploads";
  const page = pages.find(({ href }) => path === href || path.startsWith(`${href}/`));
  return page?.name ?? (path.startsWith("/settings") ? "Settings" : "Spoor");
}
