/** The pages in the navigation bar, each with the key that opens it after `g`. */
export const pages = [
  { href: "/home", name: "Home", key: "h" },
  { href: "/traces", name: "Sessions", key: "t" },
  { href: "/projects", name: "Projects", key: "p" },
  { href: "/uploads", name: "Uploads", key: "u" },
  { href: "/usage", name: "Usage", key: "y" },
  { href: "/devices", name: "Machines", key: "e" },
  { href: "/diagnostics", name: "Diagnostics", key: "d" },
] as const;

/** The search of all sessions; the fragment focuses its field. */
export const searchHref = "/traces#search";
