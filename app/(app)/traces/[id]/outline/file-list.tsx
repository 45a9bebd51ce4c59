"use client";
import { memo, useState } from "react";
import type { Outline } from "#lib/transcript/outline";
import { Sign } from "../../../../components/sign";
import { formatCount } from "../../../../components/values/figures";
import { useFrame } from "../frame/frame";
import { Pick, type Picks } from "./pick";

type File = Outline["files"][number];

const noFile = "No files were read or changed.";

export const FileList = memo(function FileList({ outline, onPick }: { outline: Outline } & Picks) {
  const { files, fileCount } = outline;
  if (files.length === 0) return <p className="p-3 text-code text-muted">{noFile}</p>;
  return (
    <>
      {files.some(({ edits }) => edits > 0) && <AllChanges />}
      <ul className="py-1">
        {files.map((file) => (
          <FileRow key={file.path} file={file} onPick={onPick} />
        ))}
      </ul>
      {fileCount > files.length && (
        <p className="p-3 text-code text-muted">
          The first {formatCount(files.length)} of {formatCount(fileCount)} files.
        </p>
      )}
    </>
  );
});

export function PlainFileList({ outline }: { outline: Outline }) {
  const { page } = useFrame();
  if (outline.files.length === 0) return <p className="p-3 text-code text-muted">{noFile}</p>;
  return (
    <ul className="plain-files">
      {outline.files.map((file) => (
        <li key={file.path}>
          <a href={`${page}?at=${file.places[0]?.position ?? 0}`}>{file.path}</a> {doneTo(file)}
        </li>
      ))}
    </ul>
  );
}

function AllChanges() {
  const { traceId } = useFrame();
  if (traceId === undefined) return null;
  return (
    <a href={`/traces/${traceId}/changes`} className="link mx-2 flex h-8 items-center text-code pointer-coarse:h-11">
      All changes
    </a>
  );
}

function FileRow({ file, onPick }: { file: File } & Picks) {
  const [isOpen, setOpen] = useState(false);
  const { path, places, edits, reads } = file;
  return (
    <li className="outline-row">
      <div className="flex items-center">
        <div className="min-w-0 grow">
          <Pick position={places[0]?.position ?? 0} onPick={onPick} title={`${path}: ${doneTo(file)}`}>
            <PathText path={path} isMuted={edits === 0} />
            <span className="shrink-0 text-meta">
              {edits > 0 ? <Changes {...file} /> : <span className="text-muted">{timesRead(reads)}</span>}
            </span>
          </Pick>
        </div>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`Places of ${path}`}
          onClick={() => setOpen(!isOpen)}
          className="needs-script flex size-7 shrink-0 items-center justify-center rounded-control text-muted hover:bg-block aria-expanded:rotate-180 pointer-coarse:size-11"
        >
          <Sign name="down" />
        </button>
      </div>
      {isOpen && <Places file={file} onPick={onPick} />}
    </li>
  );
}

/** The name comes first; a long folder is cut at its beginning. */
function PathText({ path, isMuted }: { path: string; isMuted: boolean }) {
  const shown = path.replace(/^(?:\/(?:Users|home)\/[^/]+|\/root)(?=\/.)/, "~");
  const at = shown.lastIndexOf("/", shown.length - 2) + 1;
  return (
    <span className="flex min-w-0 grow items-baseline gap-2">
      <span className={`max-w-full min-w-0 shrink-[0.001] truncate ${isMuted ? "text-muted" : ""}`}>
        {shown.slice(at)}
      </span>
      <span className="min-w-0 shrink-[99] truncate text-left text-meta text-muted [direction:rtl]">
        <bdi>{shown.slice(0, Math.max(0, at - 1))}</bdi>
      </span>
    </span>
  );
}

const maxPlaces = 20;

function Places({ file, onPick }: { file: File } & Picks) {
  const { path, places, edits, reads } = file;
  const { traceId } = useFrame();
  const count = edits > 0 ? edits : reads;
  return (
    <div className="mb-1 ml-3 flex flex-col border-hairline border-l pl-1 text-code">
      <ol>
        {places.slice(0, maxPlaces).map((place) => (
          <li key={place.position}>
            <Pick position={place.position} onPick={onPick} title={`Message ${place.position}`}>
              <span className="text-muted">#{formatCount(place.position)}</span>
              {edits > 0 && (
                <span className="text-meta">
                  <Changes {...place} />
                </span>
              )}
            </Pick>
          </li>
        ))}
      </ol>
      {count > places.length && <p className="px-2 py-1 text-muted">and {formatCount(count - places.length)} more</p>}
      {edits > 0 && reads > 0 && <p className="px-2 py-1 text-muted">also {timesRead(reads)}</p>}
      {traceId !== undefined && (
        <a href={`/files?${new URLSearchParams({ path })}`} className="link px-2 py-1">
          Other sessions with this file
        </a>
      )}
    </div>
  );
}

function Changes({ added, removed }: { added: number; removed: number }) {
  if (added + removed === 0) return <span className="text-muted">changed</span>;
  return (
    <>
      {added > 0 && <span className="text-ok">+{formatCount(added)}</span>}{" "}
      {removed > 0 && <span className="text-bad">−{formatCount(removed)}</span>}
    </>
  );
}

const times = (count: number) => (count === 1 ? "once" : `${formatCount(count)} times`);
const timesRead = (reads: number) => `read ${times(reads)}`;

function doneTo({ edits, reads }: File): string {
  const done = [edits > 0 && `changed ${times(edits)}`, reads > 0 && timesRead(reads)];
  return done.filter(Boolean).join(", ");
}
