import { formatBytes } from "#lib/transcript/text";
import { RequestId } from "../../components/page-request";
import { JobLine } from "./job-line";
import type { FileState } from "./run";

const words: Record<FileState["status"], string> = {
  waiting: "waiting for the previous file",
  sending: "sending",
  later: "waiting for the server",
  lost: "connection lost",
  signedOut: "signed out",
  refused: "refused",
  sent: "sent",
};

export function FileRow({ file, sendAgain }: { file: FileState; sendAgain: () => void }) {
  const { name, size, progress, jobs, status, sentence, errors, requestId } = file;
  const percent = size > 0 ? Math.floor((progress / size) * 100) : 0;
  const isMoving = status === "sending" || status === "later";
  return (
    <li className="flex flex-col gap-2 border-hairline border-b py-3">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{name}</span>
        <span className={status === "refused" || status === "lost" ? "text-bad" : "text-muted"} role="status">
          {words[status]}
        </span>
        <span className="ml-auto whitespace-nowrap text-code text-muted">
          {status === "sent" || status === "refused"
            ? formatBytes(size)
            : `${formatBytes(Math.floor(progress))} of ${formatBytes(size)} · ${percent}%`}
        </span>
      </p>
      {isMoving && <progress max={size} value={progress} aria-label={`${name}, sent`} className="progress" />}
      {sentence && <p className={status === "refused" ? "text-bad" : "text-muted"}>{sentence}</p>}
      {errors && errors.length > 0 && (
        <ul className="list-disc pl-5 text-code">
          {errors.map(({ place, message }) => (
            <li key={`${place} ${message}`} className="[overflow-wrap:anywhere]">
              <code className="font-mono">{place}</code>: {message}
            </li>
          ))}
        </ul>
      )}
      {requestId && <RequestId id={requestId} />}
      {(status === "lost" || status === "signedOut") && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <p>
            {status === "lost"
              ? "The server could not be reached. Sending again is safe: nothing is stored twice."
              : "You were signed out. Sign in in another tab, then send again. Parts already sent are stored."}
          </p>
          <button type="button" onClick={sendAgain} className="button">
            Send again
          </button>
        </div>
      )}
      {jobs.length > 0 && (
        <ul className="flex flex-col gap-1">
          {jobs.map((jobId, index) => (
            <JobLine
              key={jobId}
              jobId={jobId}
              label={jobs.length > 1 || status !== "sent" ? `Part ${index + 1}` : undefined}
            />
          ))}
        </ul>
      )}
    </li>
  );
}
