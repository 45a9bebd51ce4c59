import { toHtml } from "../(app)/traces/[id]/messages/markup";
import { commandStyle, copyStyle } from "../components/command-text";
import { type DocumentedAnswer, type DocumentedField, type DocumentedOperation, readReference } from "./reference";

/** No component has state: they become HTML only. */
function EntrySection({ entry }: { entry: DocumentedOperation }) {
  const { id, method, path, summary, text, authorization, parameters, sent, returned, command, answers } = entry;
  return (
    <section id={id} aria-labelledby={`${id}-title`} className="flex flex-col gap-4 border-hairline border-t pt-6">
      <div className="flex flex-col gap-1">
        <h3 id={`${id}-title`} className="font-semibold text-prose">
          <a href={`#${id}`} className="quiet-link">
            {summary}
          </a>
        </h3>
        <p className="font-mono text-code [overflow-wrap:anywhere]">
          <span className="font-semibold text-accent">{method}</span> {path}
        </p>
      </div>
      <p className="max-w-[44rem] text-prose">
        <Words text={text} />
      </p>
      <p className="text-muted">
        <Words text={authorization} />
      </p>
      <Fields title="Parameters" fields={parameters} />
      <Fields title="Body" fields={sent} />
      <div className="relative">
        <pre className={commandStyle}>{command}</pre>
        <button type="button" data-copy="command" className={copyStyle} hidden>
          <span aria-live="polite">Copy</span>
        </button>
      </div>
      <ul className="flex flex-col gap-3">
        {answers.map((answer) => (
          <AnswerItem key={answer.status} answer={answer} />
        ))}
      </ul>
      <Fields title="Response" fields={returned} />
    </section>
  );
}

function AnswerItem({ answer: { status, text, headers, example, isError } }: { answer: DocumentedAnswer }) {
  return (
    <li className="grid grid-cols-[2.5rem_minmax(0,1fr)] gap-2">
      <span className={`font-mono font-semibold text-code ${isError ? "text-bad" : "text-ok"}`}>{status}</span>
      <div className="flex flex-col gap-2">
        {text.split("\n\n").map((line) => (
          <p key={line}>
            <Words text={line} />
          </p>
        ))}
        {headers.length > 0 && (
          <p className="text-muted">
            With <Words text={headers.map((name) => `\`${name}\``).join(", ")} />
          </p>
        )}
        {example !== undefined && (
          <pre className="whitespace-pre-wrap rounded-block border border-hairline bg-block px-3 py-2 font-mono text-code [overflow-wrap:anywhere]">
            {example}
          </pre>
        )}
      </div>
    </li>
  );
}

function Fields({ title, fields }: { title: string; fields: DocumentedField[] }) {
  if (fields.length === 0) return null;
  return (
    <details open={title !== "Response"}>
      <summary className="w-fit font-medium">
        {title} <span className="font-normal text-muted">({fields.length})</span>
      </summary>
      <dl className="mt-2 flex flex-col">
        {fields.map(({ path, required, type, text }) => (
          <div key={path} className="grid gap-x-4 border-hairline border-t py-1.5 sm:grid-cols-[16rem_minmax(0,1fr)]">
            <dt className="font-mono text-code [overflow-wrap:anywhere]">
              {path}
              {required && <span className="font-sans text-meta text-muted"> required</span>}
            </dt>
            <dd className="[overflow-wrap:anywhere]">
              {type}
              {text && (
                <>
                  {" · "}
                  <Words text={text} />
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

export function Words({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a fixed text never move
      <code key={index} className="rounded-control bg-block px-1 font-mono text-code [overflow-wrap:anywhere]">
        {part}
      </code>
    ),
  );
}

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
