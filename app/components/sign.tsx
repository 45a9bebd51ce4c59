import { Check, ChevronDown, ChevronLeft, Circle, GitBranch, X } from "lucide-react";

const icons = {
  down: ChevronDown,
  left: ChevronLeft,
  cross: X,
  check: Check,
  ring: Circle,
  dot: Circle,
  branch: GitBranch,
} as const;

/** A small sign beside a word that says the same. Drawn, since not every system has a glyph for each of them. */
export function Sign({ name }: { name: keyof typeof icons }) {
  const Icon = icons[name];
  const round = name === "ring" || name === "dot";
  return (
    <Icon
      aria-hidden="true"
      className={`inline-block shrink-0 ${round ? "size-[0.75em] stroke-3" : "size-[1.15em]"} ${name === "dot" ? "fill-current" : ""}`}
    />
  );
}
