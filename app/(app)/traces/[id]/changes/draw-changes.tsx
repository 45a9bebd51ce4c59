import { type CombinedFile, toFileChange } from "#lib/transcript/files/combined";
import { newEffort } from "#lib/transcript/files/line-diff";
import { shortPath } from "#lib/transcript/files/paths";
import type { DiffLine } from "#lib/transcript/message";
import { formatQuantity } from "#lib/transcript/text";
import { findPathLanguage } from "#lib/transcript/vocabulary";
import { Diff } from "../messages/code/diff";
import { prepareLanguages } from "../messages/code/highlight";
import { Effort } from "../messages/effort";
import { toHtml } from "../messages/markup";
import { Changes } from "../messages/part";

/** Lines per page; files beyond the limits show only their heads. */
const maxDrawn = { file: 400, all: 4000, alone: 5000, characters: 600_000 };

const maxPlaces = 8;

const colours = { milliseconds: 3000, characters: 300_000 };

export type ChangesInput = { files: CombinedFile[]; traceId: string; alone: boolean };

export type DrawnFile = { path: string; added: number; removed: number };

export async function drawChanges({
  files,
  traceId,
  alone,
}: ChangesInput): Promise<{ html: string; files: DrawnFile[] }> {
  const effort = newEffort();
  const changes = files.map((file) => ({ file, ...toFileChange(file, effort) }));
  await prepareLanguages(new Set(files.map(({ path }) => findPathLanguage(path)).filter(Boolean)));
  const own = { traceId, colours: new Effort(colours) };
  const left = { lines: alone ? maxDrawn.alone : maxDrawn.all, characters: maxDrawn.characters };
  const html = toHtml(
    <div className="messages changes-list">
      {changes.map((change, index) => {
        const shown = takeLines(change.lines, alone ? maxDrawn.alone : maxDrawn.file, left);
        return <FileSection key={change.file.path} {...change} index={index} shown={shown} {...own} />;
      })}
    </div>,
  );
  return { html, files: changes.map(({ file, added, removed }) => ({ path: file.path, added, removed })) };
}

function takeLines(lines: DiffLine[], max: number, left: { lines: number; characters: number }): number {
  let shown = 0;
  for (const { text } of lines.slice(0, Math.min(max, left.lines))) {
    left.characters -= text.length + 1;
    if (left.characters < 0) break;
    shown += 1;
  }
  left.lines -= shown;
  return shown;
}

/** The paths are already relative to the project's folder. */
const nowhere = { roots: [], isWindows: false };

type SectionProps = {
  file: CombinedFile;
  lines: DiffLine[];
  added: number;
  removed: number;
  index: number;
  shown: number;
  traceId: string;
  colours: Effort;
};

function FileSection({ file, lines, added, removed, index, shown, traceId, colours: effort }: SectionProps) {
  const { path, action, places } = file;
  const shortened = shortPath(path, nowhere);
  const name = shortened.lastIndexOf("/") + 1;
  const rest = lines.length - shown;
  return (
    <section id={`m${index}-file`} data-change="" className="change" tabIndex={-1} aria-label={path}>
      <div className="change-head">
        <h2 className="path" title={path}>
          <span className="folder">{shortened.slice(0, name)}</span>
          <span className="name">{shortened.slice(name)}</span>
        </h2>
        {action !== "edit" && <span className="change-kind">{action === "write" ? "new" : "deleted"}</span>}
        <Changes added={added} removed={removed} />
        <span className="change-places">
          {formatQuantity(places.length, "edit")}:{" "}
          {places.slice(0, maxPlaces).map((position) => (
            <a key={position} href={`/traces/${traceId}?at=${position}`} className="link">
              #{position}
            </a>
          ))}
          {places.length > maxPlaces && "…"}
        </span>
      </div>
      {shown > 0 && <Diff lines={lines} to={shown} language={findPathLanguage(path)} effort={effort} />}
      {rest > 0 && (
        <p className="cut">
          <a href={`?${new URLSearchParams({ file: path })}`} className="link">
            {shown === 0 ? formatQuantity(rest, "line") : formatQuantity(rest, "more line")}
          </a>
        </p>
      )}
    </section>
  );
}
