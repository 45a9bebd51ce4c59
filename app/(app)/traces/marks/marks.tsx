import type { Trace } from "#lib/traces/queries";
import { describeSession, markSession } from "./actions";
import { MarksForm } from "./marks-form";

type Props = { trace: Pick<Trace, "id" | "shortTitle" | "customTitle" | "tags" | "note"> };

export function Describe({ trace: { id, shortTitle, customTitle, tags, note } }: Props) {
  return (
    <details>
      <summary data-command="Rename, tag, note">
        {customTitle || tags.length > 0 || note ? "Name, tags, note" : "Rename, tag, note"}
      </summary>
      <div className="p-2">
        <MarksForm
          action={describeSession}
          id={id}
          title={customTitle ?? ""}
          shown={shortTitle ?? "Untitled session"}
          tags={tags.join(", ")}
          note={note ?? ""}
        />
      </div>
    </details>
  );
}

const words = {
  starred: ["Star", "Remove the star"],
  archived: ["Archive", "Unarchive"],
} as const;

type ToggleProps = {
  id: string;
  name: keyof typeof words;
  isOn: boolean;
  className?: string;
  /** An icon in place of the words. */
  children?: React.ReactNode;
};

export function Toggle({ id, name, isOn, className, children }: ToggleProps) {
  const does = words[name][isOn ? 1 : 0];
  return (
    <form action={markSession}>
      <input type="hidden" name="id" value={id} />
      <input type="hidden" name={name} value={String(!isOn)} />
      <button
        type="submit"
        data-command={does}
        className={className}
        {...(children && { "aria-label": does, title: does })}
      >
        {children ?? does}
      </button>
    </form>
  );
}
