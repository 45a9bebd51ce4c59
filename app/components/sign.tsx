const paths = {
  down: "M4 6l4 4 4-4",
  left: "M10 4L6 8l4 4",
  cross: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5l3.5 3.5L13 4.5",
  ring: "M8 3.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9z",
  dot: "M8 3.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9z",
} as const;

/** A small sign beside a word that says the same. Drawn, since not every system has a glyph for each of them. */
export function Sign({ name }: { name: keyof typeof paths }) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={`inline-block size-[1em] shrink-0 stroke-2 stroke-current ${name === "dot" ? "fill-current" : "fill-none"}`}
    >
      <path d={paths[name]} />
    </svg>
  );
}
