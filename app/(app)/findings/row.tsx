import type { FoundSecret } from "#lib/findings/schema";
import { Form } from "../../components/forms/form";
import { formatQuantity } from "../../components/values/figures";
import { ActivityTime } from "../../components/values/time";
import { readerHref } from "../traces/[id]/frame/links";
import { decideAction } from "./actions";
import { findingsHref, stateNames } from "./params";

const inks = { open: "text-warn", masking: "text-accent", masked: "text-ok", kept: "text-muted" } as const;

export function FindingRow({ finding }: { finding: FoundSecret }) {
  const { kind, name, mark, state, traceId, title, project, projectId, count, at, dated, rotate, certain } = finding;
  return (
    <li className="flex flex-col gap-2 border-hairline border-b py-3">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
        <span className="font-medium">{name}</span>
        <a
          href={findingsHref({ kind, mark })}
          className="quiet-link inline-block font-mono text-code text-muted leading-6"
        >
          {mark}
        </a>
        <span className={`text-code ${inks[state]}`}>{stateNames[state]}</span>
        {!certain && <span className="text-code text-muted">Low confidence</span>}
        <span className="ml-auto text-meta text-muted">
          <ActivityTime of={{ updatedAt: at, dated }} />
        </span>
      </div>
      <p className="flex flex-wrap gap-x-3 text-code text-muted">
        <a href={`/traces/${traceId}`} className="quiet-link min-w-0 truncate leading-6">
          {title || "Untitled session"}
        </a>
        {project && projectId && (
          <a href={findingsHref({ project: projectId })} className="quiet-link leading-6">
            <bdi>{project}</bdi>
          </a>
        )}
        <Places finding={finding} />
        {count > 3 && <span>{formatQuantity(count, "place")}</span>}
      </p>
      {state !== "kept" && (
        <p className="text-code text-muted">
          Rotate it: <span className="[overflow-wrap:anywhere]">{rotate}</span>
        </p>
      )}
      {(state === "open" || state === "kept") && <Decisions finding={finding} />}
    </li>
  );
}

function Places({ finding: { traceId, positions } }: { finding: FoundSecret }) {
  return positions.slice(0, 3).map((position) =>
    position < 0 ? (
      <span key={position}>title or metadata</span>
    ) : (
      <a
        key={position}
        href={`${readerHref(traceId, { at: String(position) })}#m${position}`}
        className="link leading-6"
      >
        message {position}
      </a>
    ),
  );
}

function Decisions({ finding: { kind, mark, traceId, state, name } }: { finding: FoundSecret }) {
  const id = `${kind}-${mark}-${traceId}`;
  return (
    <div className="flex flex-wrap items-start gap-2">
      <span id={id} className="sr-only">
        {name} {mark}
      </span>
      <Form
        action={decideAction}
        hidden={{ kind, mark, verdict: "mask" }}
        submit="Mask everywhere"
        describedBy={id}
        question={<>Mask it in all sessions, now and in future? {question}</>}
      />
      <Form
        action={decideAction}
        hidden={{ kind, mark, trace: traceId, verdict: "mask" }}
        submit="Mask here"
        describedBy={id}
        question={<>Mask it in this session? {question}</>}
      />
      {state === "open" && (
        <Form action={decideAction} hidden={{ kind, mark, verdict: "keep" }} submit="Not a secret" describedBy={id} />
      )}
    </div>
  );
}

const question = "This can’t be undone, and removes its upload.";
