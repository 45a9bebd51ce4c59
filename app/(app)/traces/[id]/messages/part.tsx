import { type SessionFolders, shortPath } from "#lib/transcript/files/paths";
import type { PartKind, RowPart } from "#lib/transcript/message";
import { cut, formatQuantity, getTail } from "#lib/transcript/text";
import { formatMilliseconds } from "../../../../components/values/date-format";
import { Blocks, ToLoad } from "./blocks";
import { Output } from "./code/code";
import { getPartSize, isOpen, maxFolded, slices } from "./folding";
import type { Scene } from "./scene";
import { KindSign } from "./sign";

/** Lines of an open body that show at once. */
const openLines: Partial<Record<PartKind, number>> = { user: 40, edit: 24 };
const tailLines = 20;

export function PartView({ part, index, scene }: { part: RowPart; index: number; scene: Scene }) {
  const { kind, blocks } = part;
  const max = { ...slices.page, lines: openLines[kind] ?? slices.page.lines };
  if (kind === "user" || kind === "assistant")
    return <Blocks part={part} at={index} scene={scene} effort={scene.open} max={max} />;
  if (blocks.length === 0)
    return (
      <>
        <div className="part-line">
          <Head part={part} scene={scene} />
        </div>
        <Started part={part} scene={scene} />
      </>
    );
  return (
    <>
      <Fold part={part} index={index} scene={scene} max={max} />
      <Started part={part} scene={scene} />
      {part.status === "failed" && !isOpen(part) && <Tail part={part} scene={scene} />}
    </>
  );
}

function Started({ part: { session = "" }, scene }: { part: RowPart; scene: Scene }) {
  const started = Object.hasOwn(scene.sessions, session) ? scene.sessions[session] : undefined;
  if (!started) return null;
  return (
    <p className="started">
      <a href={started.href}>{started.text}</a>
    </p>
  );
}

type FoldProps = {
  part: RowPart;
  index: number;
  scene: Scene;
  max: { lines: number; characters: number };
};

function Fold({ part, index, scene, max }: FoldProps) {
  const open = isOpen(part);
  if (!open && getPartSize(part) > maxFolded && !scene.nested)
    return <ToLoad label={<Head part={part} scene={scene} />} part={`${index}`} scene={scene} className="part" />;
  return (
    <details className="part" data-fold="" open={open} data-open={open ? "" : undefined}>
      <summary>
        <Head part={part} scene={scene} />
      </summary>
      <div className="part-body">
        <Blocks part={part} at={index} scene={scene} effort={open ? scene.open : scene.closed} max={max} />
      </div>
    </details>
  );
}

function Tail({ part, scene }: { part: RowPart; scene: Scene }) {
  const output = part.blocks.findLast((block) => block.type === "output");
  if (output?.type !== "output") return null;
  const tail = getTail(output.text, tailLines);
  return (
    <div className="tail">
      <Output text={tail} before={output.text.trimEnd().slice(0, -tail.length)} effort={scene.open} />
    </div>
  );
}

const words: Partial<Record<PartKind, string>> = {
  thinking: "Thinking",
  shell: "Command",
  edit: "Edit",
  write: "New file",
  read: "Read",
  search: "Search",
  web: "Web",
  question: "Question",
  plan: "Plan",
  tasks: "Tasks",
  subagent: "Sub-agent",
  command: "Your command",
  notice: "Notice",
};

export function Head({ part, scene }: { part: RowPart; scene: Scene }) {
  const { kind, tool, title, note, amount, changes } = part;
  const noted = note && <span className="note">{note}</span>;
  return (
    <span className="head" data-kind={kind}>
      <KindSign kind={kind} />
      <span className="sr-only">{words[kind] ?? "Tool"}: </span>
      {kind === "unknown" && <span className="tool-name">{cut(tool ?? "tool", 100)}</span>}
      {kind === "shell" && noted}
      {title && <Title kind={kind} title={title} scene={scene} />}
      {kind !== "shell" && noted}
      <span className="facts">
        {amount && <span>{amount}</span>}
        {changes && <Changes {...changes} />}
        <Outcome part={part} />
      </span>
    </span>
  );
}

function Title({ kind, title, scene }: { kind: PartKind; title: string; scene: Scene }) {
  if (kind === "edit" || kind === "write" || kind === "read") return <Path path={title} place={scene.place} />;
  const isCode = kind === "shell" || kind === "search" || kind === "web" || kind === "command";
  return <span className={isCode ? "title mono" : "title"}>{isCode ? title : withoutMarks(title)}</span>;
}

const withoutMarks = (line: string) =>
  line
    .replace(/^(?:#{1,6}|>|[-*+]) +/, "")
    .replace(/\*\*([^*\n]+)\*\*/g, "$1")
    .replace(/`([^`\n]+)`/g, "$1");

function Path({ path, place }: { path: string; place: SessionFolders }) {
  const shown = path.includes(" → ") ? path : shortPath(path, place);
  const name = shown.lastIndexOf("/", shown.length - 2) + 1;
  return (
    <span className="title mono path" title={shown === path ? undefined : path.slice(0, 1000)}>
      {name > 0 && <span className="folder">{shown.slice(0, name)}</span>}
      <span className="name">{shown.slice(name)}</span>
    </span>
  );
}

/** "+12 −4" */
export function Changes({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="changes">
      {added > 0 && (
        <span className="text-ok">
          +{added.toLocaleString("en")}
          <span className="sr-only"> lines added</span>
        </span>
      )}{" "}
      {removed > 0 && (
        <span className="text-bad">
          −{removed.toLocaleString("en")}
          <span className="sr-only"> lines removed</span>
        </span>
      )}
    </span>
  );
}

function Outcome({ part }: { part: RowPart }) {
  const { status, durationMs } = part;
  const word = outcomeWord(part);
  return (
    <>
      {word && (
        <span className={status === "failed" ? "text-bad" : undefined}>
          {status === "failed" && <KindSign kind="failed" />}
          {word}
        </span>
      )}
      {durationMs !== undefined && durationMs >= 1000 && (
        <span title={formatQuantity(durationMs, "millisecond")}>{formatMilliseconds(durationMs)}</span>
      )}
    </>
  );
}

function outcomeWord({ kind, status, exitCode }: RowPart): string {
  if (status === "failed") return exitCode === undefined ? "failed" : `exit ${exitCode}`;
  if (status === "rejected") return "declined";
  if (status === "pending") return "no result";
  return kind === "shell" && exitCode === 0 ? "ok" : "";
}
