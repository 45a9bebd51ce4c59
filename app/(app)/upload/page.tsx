import type { Metadata } from "next";
import { requireUser } from "#lib/auth/session";
import { env } from "#lib/env";
import { limits } from "#lib/limits";
import { formatCount } from "../../components/figures";
import { Notice } from "../../components/notice";
import { refusalOf } from "./refusal";
import { UploadForm } from "./upload-form";

export const metadata: Metadata = { title: "Upload" };

/** A limit as it is set: a round number of MiB. */
const mebibytes = (bytes: number) => `${formatCount(Math.floor(bytes / 1024 / 1024))} MiB`;

/** Sends files by hand: what an export gave, or a batch as a client would send it. */
export default async function Page({ searchParams }: PageProps<"/upload">) {
  await requireUser("/upload");
  const refusal = refusalOf(await searchParams);
  const { wireBytes, traces, formBytes } = limits.ingest;
  const decodedBytes = env().INGEST_MAX_BYTES;
  return (
    <div className="flex max-w-[72ch] flex-col gap-4">
      <h1 className="font-semibold text-title">Upload</h1>
      <ul className="list-disc pl-5 text-muted">
        <li>JSON lines, a conversation a line, as an export gives them: of any length, sent in parts.</li>
        <li>
          JSON as a client sends it, or one conversation: up to {mebibytes(wireBytes)} compressed,{" "}
          {mebibytes(decodedBytes)} unpacked, {formatCount(traces)} conversations.
        </li>
        <li>Either of them as it is or with gzip. What is here already is not stored twice.</li>
      </ul>
      {refusal && (
        <Notice tone="bad">
          <p role="alert">{refusal}</p>
        </Notice>
      )}
      <UploadForm limits={{ decodedBytes, traces }} formLimit={mebibytes(formBytes)} />
      <p className="text-code text-muted">
        <a href="/uploads" className="link">
          What became of earlier uploads
        </a>
      </p>
    </div>
  );
}
