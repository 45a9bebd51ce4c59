import { toHtml } from "../(app)/traces/[id]/messages/markup";
import { type DocumentedAnswer, type DocumentedField, type DocumentedOperation, readReference } from "./reference";

/** No component has state: they become HTML only. */
function EntrySection({ entry }: { entry: DocumentedOperation }) {
  const { id, method, path, summary, text, authorization, parameters, sent, returned, command, answers } = entry;
  return (
    <section id={id} aria-labelledby={`${id}-title`} className="operation">
      <div>
        <h3 id={`${id}-title`}>
          <a href={`#${id}`} className="quiet-link">
            {summary}
          </a>
        </h3>
        <p>
          <strong>{method}</strong> {path}
        </p>
      </div>
      <p className="about">
        <Words text={text} />
      </p>
      <p>
        <Words text={authorization} />
      </p>
      <Fields title="Parameters" fields={parameters} />
      <Fields title="Body" fields={sent} />
      <div className="command">
        <pre>{command}</pre>
        <button type="button" data-copy="command" hidden>
          <span aria-live="polite">Copy</span>
        </button>
      </div>
      <ul>
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
    <li>
      <strong className={isError ? "bad" : undefined}>{status}</strong>
      <div>
        {text.split("\n\n").map((line) => (
          <p key={line}>
            <Words text={line} />
          </p>
        ))}
        {headers.length > 0 && (
          <p>
            With <Words text={headers.map((name) => `\`${name}\``).join(", ")} />
          </p>
        )}
        {example !== undefined && <pre>{example}</pre>}
      </div>
    </li>
  );
}

function Fields({ title, fields }: { title: string; fields: DocumentedField[] }) {
  if (fields.length === 0) return null;
  return (
    <details open={title !== "Response"}>
      <summary>
        {title} <span>({fields.length})</span>
      </summary>
      <dl>
        {fields.map(({ path, required, type, text }) => (
          <div key={path}>
            <dt>
              {path}
              {required && <span> required</span>}
            </dt>
            <dd>
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
      <code key={index}>{part}</code>
    ),
  );
}

let written: string | undefined;

export function writeGroups(): string {
  written ??= toHtml(
    readReference().map(({ name, text, entries }) => (
      <section key={name} className="group">
        <div>
          <h2>{name}</h2>
          <p>{text}</p>
        </div>
        {entries.map((entry) => (
          <EntrySection key={entry.id} entry={entry} />
        ))}
      </section>
    )),
  );
  return written;
}
