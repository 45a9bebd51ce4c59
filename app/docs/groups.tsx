import { toHtml } from "../(app)/traces/[id]/messages/markup";
import { EntrySection } from "./entry";
import { readReference } from "./reference";

let written: string | undefined;

export function writeGroups(): string {
  written ??= toHtml(
    readReference().map(({ name, text, entries }) => (
      <section key={name} className="group">
        <div>
          <h2>{name}</h2>
          <p>{text}</p>
        </div>
        {entries.map((entry) => (
          <EntrySection key={entry.id} entry={entry} />
        ))}
      </section>
    )),
  );
  return written;
}
