import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { env } from "#lib/core/env";
import { limits, maxFormBytes } from "#lib/core/limits";
import { Notice } from "../../components/notice";
import { RequestId } from "../../components/page-request";
import { formatCount } from "../../components/values/figures";
import { readRefusal } from "./refusal";
import { UploadForm } from "./upload-form";

export const metadata: Metadata = { title: "Upload" };

const mebibytes = (bytes: number) => `${formatCount(Math.floor(bytes / 1024 / 1024))} MiB`;

export default async function Page({ searchParams }: PageProps<"/upload">) {
  await requireUser("/upload");
  const refusal = readRefusal(await searchParams);
  const { traces } = limits.ingest;
  const { INGEST_MAX_BYTES: decodedBytes, INGEST_MAX_WIRE_BYTES: wireBytes } = env();
  return (
    <div className="flex max-w-[72ch] flex-col gap-4">
      <h1 className="font-semibold text-title">Upload</h1>
      <ul className="list-disc pl-5 text-muted">
        <li>JSON Lines, one session per line, such as an export: any length, sent in parts.</li>
        <li>
          A JSON batch, or a single session: up to {mebibytes(wireBytes)} compressed, {mebibytes(decodedBytes)}{" "}
          decompressed, {formatCount(traces)} sessions.
        </li>
        <li>Both may be compressed with gzip. Sessions that are already stored are not stored twice.</li>
      </ul>
      {refusal && (
        <Notice tone="bad">
          <p role="alert">{refusal.sentence}</p>
          {refusal.requestId && <RequestId id={refusal.requestId} />}
        </Notice>
      )}
      <UploadForm limits={{ decodedBytes, wireBytes, traces }} formLimit={mebibytes(maxFormBytes())} />
      <p className="text-code text-muted">
        <a href="/uploads" className="link target">
          Earlier uploads
        </a>
      </p>
    </div>
  );
}
