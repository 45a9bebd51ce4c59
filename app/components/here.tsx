"use client";
import { usePathname } from "next/navigation";
import { pages } from "./pages";

/** The name of the part of the application that the reader is in. */
export function Here() {
  const path = usePathname();
  if (path === "/upload") return "Uploads";
  const page = pages.find(({ href }) => path === href || path.startsWith(`${href}/`));
  return page?.name ?? (path.startsWith("/settings") ? "Settings" : "Spoor");
}
