"use client";
/** A client component, since every page includes it in its "not found". */
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
