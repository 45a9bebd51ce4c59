"use client";
import { useEffect, useRef, useState } from "react";
import { FileRow } from "./file-row";
import { type FileState, sendFile } from "./run";
import type { PartLimits } from "./split-file";

type Listed = FileState & { id: number; sendAgain: () => void };

/** Without JavaScript it is a plain form. */
export function UploadForm({ limits, formLimit }: { limits: PartLimits; formLimit: string }) {
  const [files, setFiles] = useState<Listed[]>([]);
  const [isOver, setOver] = useState(false);
  const last = useRef(Promise.resolve());
  const nextId = useRef(0);
  const isBusy = files.some(({ status }) => status !== "sent" && status !== "refused");
  useWarning(isBusy);

  const take = (chosen: Iterable<File>) => {
    for (const file of chosen) {
      nextId.current += 1;
      const id = nextId.current;
      const asked = { now: () => {} };
      const update = (change: Partial<FileState>) =>
        setFiles((all) => all.map((one) => (one.id === id ? { ...one, ...change } : one)));
      const listed = { id, name: file.name, size: file.size, progress: 0, jobs: [], status: "waiting" as const };
      setFiles((all) => [...all, { ...listed, sendAgain: () => asked.now() }]);
      const untilAskedFor = () =>
        new Promise<void>((resolve) => {
          asked.now = resolve;
        });
      last.current = last.current.catch(() => {}).then(() => sendFile(file, limits, update, untilAskedFor));
    }
  };

  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way; the field in it is the first one */}
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          take(event.dataTransfer.files);
        }}
        className={`rounded-block border border-dashed p-6 ${isOver ? "border-accent bg-tint" : "border-edge bg-block"}`}
      >
        <form method="post" action="/api/uploads" encType="multipart/form-data" className="flex flex-col gap-3">
          <label htmlFor="file" className="font-medium">
            <span className="noscript:hidden pointer-coarse:hidden">Drop files here, or choose them</span>
            <span className="hidden pointer-coarse:inline pointer-coarse:noscript:hidden">Choose files</span>
            <span className="hidden noscript:inline">Choose a JSON file of up to {formLimit}</span>
          </label>
          <input
            id="file"
            name="file"
            type="file"
            multiple
            accept=".json,.jsonl,.ndjson,.gz,application/json,application/gzip"
            onChange={(event) => {
              take([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
            className="w-full min-w-0 file:mr-3 file:h-8 file:rounded-control file:border file:border-edge file:bg-overlay file:px-3 file:font-medium file:text-text pointer-coarse:file:h-11"
          />
          <button type="submit" className="button button-accent hidden w-fit noscript:inline-flex">
            Upload
          </button>
        </form>
      </div>
      {files.length > 0 && (
        <ul aria-label="Files" className="border-hairline border-t">
          {files.map((file) => (
            <FileRow key={file.id} file={file} sendAgain={file.sendAgain} />
          ))}
        </ul>
      )}
    </>
  );
}

function useWarning(isBusy: boolean): void {
  useEffect(() => {
    if (!isBusy) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isBusy]);
}
