import type { ReaderRow, TaskState } from "#lib/transcript/message";

type Name = ReaderRow["kind"] | TaskState | "failed";

const paths: Partial<Record<Name, string>> = {
  thinking: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  shell: "M3 4l4 4-4 4M8.5 12H13",
  edit: "M11 2.5L13.5 5 6 12.5l-3.5 1 1-3.5z",
  write: "M4 2.5h5l3 3v8H4zM8 7v4M6 9h4",
  read: "M4 2.5h5l3 3v8H4zM6 8h4M6 10.5h4",
  search: "M7 3a4 4 0 100 8 4 4 0 000-8zM10 10l3.5 3.5",
  web: "M8 2.5a5.5 5.5 0 100 11 5.5 5.5 0 000-11zM2.5 8h11M8 2.5c-3 3.5-3 7.5 0 11M8 2.5c3 3.5 3 7.5 0 11",
  question: "M5.5 6a2.5 2.5 0 115 0c0 1.7-2.5 1.7-2.5 3.7M8 12.5v.01",
  plan: "M3 4h10M3 8h7M3 12h4",
  tasks: "M2.5 4.5L4 6l2.5-3M9 4.5h4.5M2.5 11L4 12.5l2.5-3M9 11h4.5",
  subagent: "M5 3v4a3 3 0 003 3h4M10 7.5l2.5 2.5-2.5 2.5",
  command: "M9.5 2.5l-3 11",
  notice: "M8 7.5v3.5M8 5v.01M8 2.5a5.5 5.5 0 100 11 5.5 5.5 0 000-11z",
  unknown: "M3.5 3.5h9v9h-9z",
  open: "M3 3h10v10H3z",
  doing: "M3 3h10v10H3zM6 8h4",
  done: "M3 3h10v10H3zM5.5 8l2 2 3-4",
  failed: "M4 4l8 8M12 4l-8 8",
  group: "M4 5h8M4 8h8M4 11h8",
};

/** Drawn, since not every system has a glyph for each. */
export function KindSign({ kind }: { kind: Name }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true" className="kind-sign">
      <path d={paths[kind]} />
    </svg>
  );
}
