import { getModelFamily } from "#lib/prices/model";
import type { ReaderRow } from "#lib/transcript/message";
import { formatClock, formatDay, formatSpan, longTime } from "../../../../components/values/date-format";
import { Changes, Head, PartView } from "./part";
import type { Scene } from "./scene";
import { KindSign } from "./sign";

type RowProps = { row: ReaderRow; scene: Scene };

export function Row({ row, scene }: RowProps) {
  const { position, positions, kind, turnStart, failed, talk } = row;
  const own = { ...scene, ...(!scene.nested && { position, positions }) };
  return (
    <>
      <Divider row={row} zone={scene.zone} />
      <article
        id={scene.nested ? undefined : `m${position}`}
        data-position={scene.nested ? undefined : position}
        data-positions={scene.nested ? undefined : positions.join(" ")}
        data-kind={kind}
        data-turn-start={turnStart ? "" : undefined}
        data-failed={failed ? "" : undefined}
        data-talk={talk ? "shown" : "hidden"}
        aria-label={getRowLabel(row, scene)}
        className="row"
      >
        {!scene.nested && <OtherPositions row={row} />}
        <Facts row={row} scene={own} />
        <Speaker row={row} scene={scene} />
        {kind === "group" ? <Group row={row} scene={own} /> : <Parts row={row} scene={own} />}
        {row.turnChanges && <TurnChanges changes={row.turnChanges} />}
      </article>
    </>
  );
}

function Parts({ row, scene }: RowProps) {
  return row.parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a stored message never change their order
    <PartView key={index} part={part} index={index} scene={scene} />
  ));
}

/** Links to the row's other positions find it too. */
function OtherPositions({ row: { kind, position, positions } }: { row: ReaderRow }) {
  if (kind === "group") return null;
  return positions.slice(0, 200).map((other) => (other === position ? null : <span key={other} id={`m${other}`} />));
}

function Group({ row, scene }: RowProps) {
  return (
    <details className="part" data-fold="">
      <summary>
        <GroupHead row={row} scene={scene} />
      </summary>
      <div className="members">
        {row.members.map((member) => (
          <Member key={member.position} row={member} scene={scene} />
        ))}
      </div>
    </details>
  );
}

function GroupHead({
  row: {
    parts: [part],
  },
  scene,
}: RowProps) {
  if (!part) return null;
  if (part.kind === "edit") return <Head part={part} scene={scene} />;
  return (
    <span className="head" data-kind="group">
      <KindSign kind="group" />
      <span className="title">{part.title}</span>
      {part.note && <span className="note">{part.note}</span>}
    </span>
  );
}

/** The group has its first member's position as id. */
function Member({ row, scene }: RowProps) {
  const { position, positions } = row;
  const own = { ...scene, ...(!scene.nested && { position, positions }) };
  const isFirst = position === scene.position;
  return (
    <div id={isFirst || scene.nested ? undefined : `m${position}`} data-member={position} className="row">
      {!scene.nested && <OtherPositions row={row} />}
      <Facts row={row} scene={own} />
      <Parts row={row} scene={own} />
    </div>
  );
}

const speakers: Record<string, string> = { assistant: "Assistant", tool: "Tool", system: "System" };

const getRowLabel = ({ role, kind }: ReaderRow, { person }: Scene) =>
  kind === "user" || role === "user"
    ? person
    : (Object.hasOwn(speakers, role ?? "") && speakers[role ?? ""]) || (role?.slice(0, 32) ?? "Unknown role");

function Speaker({ row: { kind, role, model, turnStart }, scene: { person } }: RowProps) {
  if (kind === "user" || turnStart) return <h2 className="speaker speaker-user">{person}</h2>;
  if (kind !== "assistant") return null;
  if (role !== "assistant" && role !== "model")
    return <h2 className="speaker">{role?.slice(0, 32) ?? "unknown role"}</h2>;
  if (!model) return null;
  const family = getModelFamily(model);
  return (
    <p className="speaker" title={family === model ? undefined : model}>
      {family}
    </p>
  );
}

function Facts({ row: { position, tokenCount, createdAt, kind, turnStart }, scene }: RowProps) {
  if (scene.nested) return null;
  const moment = createdAt && longTime(new Date(createdAt), scene.zone);
  return (
    <div className="facts-edge">
      {scene.stored && turnStart && (
        <a
          href={`${scene.page}/share?turn=${position}`}
          aria-label={`Message ${position}: share its turn`}
          className="way"
        >
          Share
        </a>
      )}
      {scene.stored && (
        <button type="button" className="copy" data-copy="message" aria-label={`Copy message ${position}`}>
          Copy
        </button>
      )}
      {tokenCount !== null && (
        <span className="tokens">{tokenCount.toLocaleString("en", { notation: "compact" })} tok</span>
      )}
      <a href={`?at=${position}`} title={moment || `Position ${position}`} className="when">
        {createdAt ? <time dateTime={createdAt}>{formatClock(createdAt, scene.zone)}</time> : `#${position}`}
        {kind === "group" && <span className="sr-only"> first of the group</span>}
      </a>
    </div>
  );
}

function TurnChanges({ changes }: { changes: NonNullable<ReaderRow["turnChanges"]> }) {
  const { files, ...counts } = changes;
  return (
    <p className="turn-changes">
      {files === 1 ? "1 file" : `${files} files`} changed in this turn <Changes {...counts} />
    </p>
  );
}

const minGapSeconds = 300;

function Divider({ row: { createdAt, gapBefore }, zone }: { row: ReaderRow; zone: string }) {
  if (!createdAt || !gapBefore) return null;
  const { since, seconds } = gapBefore;
  const day = formatDay(createdAt, zone);
  const isNewDay = day !== formatDay(since, zone) && seconds > 0;
  if (seconds < minGapSeconds && !isNewDay) return null;
  const later = seconds >= minGapSeconds ? `${formatSpan(seconds)} later` : "";
  return (
    <p className="divider" data-divider="">
      <span>{[later, isNewDay ? day : "", formatClock(createdAt, zone)].filter(Boolean).join(" · ")}</span>
    </p>
  );
}
