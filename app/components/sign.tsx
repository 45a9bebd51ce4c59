import { Check, ChevronLeft, Circle, GitBranch, X } from "lucide-react";

const icons = {
  left: ChevronLeft,
  cross: X,
  check: Check,
  ring: Circle,
  dot: Circle,
  branch: GitBranch,
} as const;

/** A small sign beside a word that says the same. Drawn, since not every system has a glyph for each of them. */
export function Sign({ name }: { name: keyof typeof icons | "down" }) {
  if (name === "down") return <span aria-hidden="true" className="sign-down" />; // a list has six: 300 bytes less of each
  const Icon = icons[name];
  const round = name === "ring" || name === "dot";
  return (
    <Icon
      aria-hidden="true"
      className={`inline-block shrink-0 ${round ? "size-[0.75em] stroke-3" : "size-[1.15em]"} ${name === "dot" ? "fill-current" : ""}`}
    />
  );
}
