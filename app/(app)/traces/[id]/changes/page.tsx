import "../messages/styles";
import "./changes.css";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { cache } from "react";
import { z } from "zod";
import { requireUser } from "#lib/auth/guards";
import { SpoorError } from "#lib/core/errors";
import { sumEdits } from "#lib/files/files";
import { hasTooManyOutlines, readChanges } from "#lib/traces/outline";
import { getTrace } from "#lib/traces/queries";
import { orMissing } from "../../../../components/missing";
import { formatCount } from "../../../../components/values/figures";
import { draw } from "../drawing/draw";
import { ChangeKeys } from "./change-keys";
import type { DrawnFile } from "./draw-changes";
import { Sum } from "./sum";

export async function generateMetadata({ params }: PageProps<"/traces/[id]/changes">): Promise<Metadata> {
  const { trace } = await own((await params).id);
  return { title: `All changes · ${trace.shortTitle || "Untitled session"}` };
}

export default async function Page({ params, searchParams }: PageProps<"/traces/[id]/changes">) {
  const { id } = await params;
  const { user, trace } = await own(id);
  if (hasTooManyOutlines(user.id)) throw new SpoorError("overloaded");
  const { file } = await searchParams;
  const { files, untold, cut } = await readChanges(user.id, id);
  const wanted = typeof file === "string" ? files.filter(({ path }) => path === file) : files;
  const drawn = await draw({ userId: user.id, kind: "own" }, "changes", async () => ({
    files: wanted,
    traceId: id,
    alone: typeof file === "string",
  }));
  const edits = typeof file === "string" ? undefined : await sumEdits(user.id, id);
  const back = `/traces/${id}`;
  return (
    <div className="flex flex-col gap-4">
      <ChangeKeys back={back} />
      <header className="flex flex-col gap-1">
        <a href={typeof file === "string" ? `${back}/changes` : back} className="link w-fit text-code">
          {typeof file === "string" ? "All changes" : trace.shortTitle || "Untitled session"}
        </a>
        <h1 className="font-semibold text-title">All changes</h1>
        <Sum files={drawn?.files ?? []} untold={untold} cut={cut} {...(edits && { edits })} />
      </header>
      {drawn && drawn.files.length > 1 && <FileLinks files={drawn.files} />}
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: messages/markup.ts wrote it, by lists of elements and attributes */}
      {drawn && <div dangerouslySetInnerHTML={{ __html: drawn.html }} />}
    </div>
  );
}

function FileLinks({ files }: { files: DrawnFile[] }) {
  return (
    <details className="text-code">
      <summary className="w-fit cursor-pointer py-1 pointer-coarse:py-3">Files</summary>
      <ul className="mt-1 flex flex-col">
        {files.map(({ path, added, removed }, index) => (
          <li key={path} className="flex gap-3">
            <a href={`#m${index}-file`} className="link min-w-0 truncate font-mono" title={path}>
              {path}
            </a>
            <span className="shrink-0 text-meta">
              <span className="text-ok">+{formatCount(added)}</span>{" "}
              <span className="text-bad">−{formatCount(removed)}</span>
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

const own = cache(async (id: string) => {
  const user = await requireUser(`/traces/${encodeURIComponent(id)}/changes`);
  if (!z.uuid().safeParse(id).success) notFound();
  return { user, trace: await orMissing(getTrace(user.id, id)) };
});
