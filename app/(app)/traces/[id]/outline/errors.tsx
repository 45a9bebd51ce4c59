"use client";
import { memo } from "react";
import type { Failure, Outline } from "#lib/transcript/outline";
import { formatCount } from "../../../../components/values/figures";
import { Pick, type Picks } from "./pick";

export const Errors = memo(function Errors({ errors, onPick }: { errors: Outline["errors"] } & Picks) {
  if (errors.length === 0) return <p className="p-3 text-code text-muted">Nothing failed.</p>;
  return (
    <ul className="py-1">
      {[...Map.groupBy(errors, ({ message }) => errorKind(message))].map(([kind, group]) => (
        <Group key={kind} group={group} onPick={onPick} />
      ))}
    </ul>
  );
});

/** Paths, quotations and numbers differ between errors of one kind. */
const errorKind = (message: string): string => message.replace(/"[^"]*"|'[^']*'|`[^`]*`|\S*[\\/]\S*|\d+/g, "…");

function Group({ group, onPick }: { group: Failure[] } & Picks) {
  const [first] = group;
  if (!first) return null;
  return (
    <li className="border-hairline border-b py-1.5 last:border-b-0">
      <p className="flex items-start gap-2 px-2 text-code" title={first.message}>
        <span className="line-clamp-2 min-w-0 grow font-medium wrap-anywhere">{first.message}</span>
        {group.length > 1 && <span className="pill pill-bad">{formatCount(group.length)}</span>}
      </p>
      <ul>
        {group.map(({ position, title }) => (
          <li key={position} className="outline-row">
            <Pick position={position} onPick={onPick} title={title}>
              <span aria-hidden="true" className="shrink-0 text-bad">
                ✕
              </span>
              <span className="min-w-0 truncate font-mono text-meta text-muted">{title || "failed"}</span>
            </Pick>
          </li>
        ))}
      </ul>
    </li>
  );
}
