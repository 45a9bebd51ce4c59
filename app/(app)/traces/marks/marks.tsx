import type { Trace } from "#lib/traces/queries";
import { describeSession, markSession } from "./actions";
import { MarksForm } from "./marks-form";

type Props = { trace: Pick<Trace, "id" | "shortTitle" | "customTitle" | "starredAt" | "archivedAt" | "tags" | "note"> };

export function Marks({ trace }: Props) {
  const { id, shortTitle, customTitle, starredAt, archivedAt, tags, note } = trace;
  return (
    <div className="session-marks">
      <Toggle id={id} name="starred" isOn={starredAt !== null} words={["Star", "Starred"]} />
      <Toggle id={id} name="archived" isOn={archivedAt !== null} words={["Archive", "Unarchive"]} />
      <details data-menu className="sm:relative">
        <summary data-command="Rename, tag, note" className="button list-none font-normal">
          {customTitle || tags.length > 0 || note ? "Name, tags, note" : "Rename, tag, note"}
        </summary>
        <div className="menu-panel p-3 max-sm:w-full sm:left-0 sm:w-96">
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
      {tags.map((tag) => (
        <a key={tag} href={`/traces?tag=${encodeURIComponent(tag)}`} className="tag self-center">
          {tag}
        </a>
      ))}
      {note && <p className="w-full max-w-[72ch] whitespace-pre-wrap text-muted">{note}</p>}
    </div>
  );
}

const commands = {
  starred: ["Star", "Remove the star"],
  archived: ["Archive", "Unarchive"],
} as const;

type ToggleProps = { id: string; name: "starred" | "archived"; isOn: boolean; words: [off: string, on: string] };

function Toggle({ id, name, isOn, words: [off, on] }: ToggleProps) {
  return (
    <form action={markSession}>
      <input type="hidden" name="id" value={id} />
      <input type="hidden" name={name} value={String(!isOn)} />
      <button type="submit" data-command={commands[name][isOn ? 1 : 0]} className="button font-normal">
        {isOn ? on : off}
      </button>
    </form>
  );
}
