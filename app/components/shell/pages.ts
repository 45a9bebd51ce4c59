/** Each key opens its page after `g`. */
export const pages = [
  { href: "/home", name: "Home", key: "h" },
  { href: "/traces", name: "Sessions", key: "t" },
  { href: "/projects", name: "Projects", key: "p" },
  { href: "/uploads", name: "Uploads", key: "u" },
  { href: "/usage", name: "Usage", key: "y" },
  { href: "/devices", name: "Machines", key: "e" },
  { href: "/diagnostics", name: "Diagnostics", key: "d" },
] as const;

export const searchHref = "/traces#search";

export type SearchParams = Record<string, string | string[] | undefined>;
