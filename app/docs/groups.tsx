import { toHtml } from "../(app)/traces/[id]/messages/markup";
import { EntrySection } from "./entry";
import { readReference } from "./reference";

let written: string | undefined;

export function writeGroups(): string {
  written ??= toHtml(
    readReference().map(({ name, text, entries }) => (
      <section key={name} className="flex flex-col gap-8">
        <div>
          <h2 className="font-semibold text-title">{name}</h2>
          <p className="text-muted">{text}</p>
        </div>
        {entries.map((entry) => (
          <EntrySection key={entry.id} entry={entry} />
        ))}
      </section>
    )),
  );
  return written;
}
