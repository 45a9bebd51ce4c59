/** Also used by HTML that React does not draw (app/docs/entry.tsx). */
export const commandStyle =
  "whitespace-pre-wrap rounded-block border border-hairline bg-block py-2 pr-16 pl-3 font-mono text-code [overflow-wrap:anywhere]";

export const copyStyle =
  "absolute top-1.5 right-1.5 rounded-control border border-hairline bg-overlay px-2 py-0.5 text-meta text-muted hover:text-text pointer-coarse:min-h-11 pointer-coarse:min-w-11";
