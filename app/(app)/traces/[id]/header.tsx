import type { Trace } from "#lib/traces/queries";
import { countOf, Figure } from "../../../components/figures";
import { Monogram } from "../../../components/mark";
import { Notice } from "../../../components/notice";
import { Sign } from "../../../components/sign";
import { Time } from "../../../components/time";
import { listHref } from "../filters";
import { deleteAction } from "./actions";
import { Metadata } from "./metadata";

/** What a session is, and what can be done with it as a whole. */
export function TraceHeader({ trace }: { trace: Trace }) {
  const { source, model, project } = trace;
  return (
    <header className="flex flex-col gap-3 border-hairline border-b pb-4">
      <p>
        <a href="/traces" className="link text-code">
          <Sign name="left" /> All traces
        </a>
      </p>
      <div className="flex items-start gap-3">
        <Monogram source={source} />
        <h1 className="min-w-0 break-words font-semibold text-title">{trace.title || "Untitled session"}</h1>
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-code">
        <a href={listHref({ source })} className="quiet-link">
          {source}
        </a>
        {model && (
          <a href={listHref({ model })} className="quiet-link break-all">
            {model}
          </a>
        )}
        {project && (
          <a href={listHref({ project })} className="quiet-link break-all">
            {project}
          </a>
        )}
        <span>{countOf(trace.messageCount, "message")}</span>
        {trace.tokenCount > 0 && <Figure count={trace.tokenCount} unit="tokens" />}
        {trace.createdAt && (
          <span>
            <span className="text-muted">began</span> <Time at={trace.createdAt} as="long" />
          </span>
        )}
        <span>
          <span className="text-muted">last activity</span> <Time at={trace.updatedAt} as="long" />
        </span>
      </p>
      {trace.sanitized && (
        <Notice tone="warn">
          <p>Some characters couldn't be stored; each of them shows as “�”.</p>
        </Notice>
      )}
      <div className="flex flex-wrap items-start gap-x-4 gap-y-2 text-code">
        <a href={`/api/traces/${trace.id}/messages`} className="link">
          Messages as JSON
        </a>
        {trace.metadata && <Metadata value={trace.metadata} />}
        <DeleteConfirmation trace={trace} />
      </div>
    </header>
  );
}

function DeleteConfirmation({ trace }: { trace: Trace }) {
  return (
    <details>
      <summary className="text-muted hover:text-text">Delete this session</summary>
      <form action={deleteAction} className="mt-2 flex max-w-[60ch] flex-col gap-3 rounded-block border border-bad p-3">
        <input type="hidden" name="id" value={trace.id} />
        <p className="text-ui">
          <strong className="break-words font-semibold">{trace.title || "Untitled session"}</strong> and its{" "}
          {countOf(trace.messageCount, "message")} will be gone for good. A later sync from your machine does not bring
          them back.
        </p>
        <button type="submit" className="button button-bad w-fit">
          Delete
        </button>
      </form>
    </details>
  );
}
