/** The pages of the bar, each with the key that leads to it behind `g`. */
export const pages = [
  { href: "/traces", name: "Sessions", key: "t" },
  { href: "/uploads", name: "Uploads", key: "u" },
  { href: "/usage", name: "Usage", key: "y" },
  { href: "/devices", name: "Devices", key: "e" },
  { href: "/diagnostics", name: "Diagnostics", key: "d" },
] as const;

/** Where the search of all sessions is: its field takes the focus that the fragment names. */
export const searchHref = "/traces#search";
