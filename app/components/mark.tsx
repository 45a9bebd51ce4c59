/** Spoor's mark: a trail of dots. */
export function Mark({ className = "size-5" }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" className={`${className} fill-accent`}>
      <circle cx="5" cy="26" r="2.5" />
      <circle cx="12" cy="21" r="3.2" />
      <circle cx="17" cy="13" r="4" />
      <circle cx="26" cy="7" r="5" />
    </svg>
  );
}

/** The two letters that stand for an agent: initials of its words (a last "cli" aside), or the first two of its one. */
function monogramOf(source: string): string {
  const words = source
    .replace(/\Wcli$/i, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const [first = "", second] = words;
  const letters = second ? [...first].slice(0, 1).concat([...second].slice(0, 1)) : [...first].slice(0, 2);
  return letters.join("").toUpperCase() || "?";
}

export function Monogram({ source }: { source: string }) {
  return (
    <span
      aria-hidden="true"
      className="inline-grid size-6 shrink-0 place-items-center rounded-control border border-hairline bg-block font-mono text-[0.6875rem] text-muted"
    >
      {monogramOf(source)}
    </span>
  );
}
