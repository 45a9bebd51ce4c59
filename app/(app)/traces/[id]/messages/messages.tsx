import type { ReaderRow } from "#lib/transcript/message";
import { BlockFrom, Blocks } from "./blocks";
import { slices } from "./folding";
import { toHtml } from "./markup";
import { Row } from "./row";
import { prepareScene, type Scene, type View } from "./scene";

export type { View };

/**
 * Renders rows without state in the browser; the client acts on attributes:
 *
 * - `article#m{position}` with `data-position`, `data-positions` (all positions of the row), `data-kind`,
 *   `data-turn-start`, `data-failed` and `data-talk` (`shown`, `hidden`); a group's members are `[data-member]`.
 * - `details[data-fold]`; `data-open` if the server opens it; `data-load`, `data-part` and `data-positions` for a
 *   body that is loaded on opening.
 * - `button[data-copy]`: `block` and `command` copy the `pre` beside it; `message` copies the messages at
 *   `data-positions`.
 * - `[data-divider]`: a line for a gap or a new day.
 * - `[data-wrap="off"]` on an ancestor: long lines of code scroll.
 */
export async function drawMessages(rows: ReaderRow[], view: View, talk: boolean): Promise<string> {
  const { sessions = {} } = view;
  const shown = talk ? rows.filter((row) => row.talk) : rows;
  const scene = await prepareScene(view, shown);
  return toHtml(
    <div className="messages" data-view={talk ? "talk" : "all"}>
      {shown.map((row) =>
        drawRow(row, { ...scene, sessions, drawRow, position: row.position, positions: row.positions }),
      )}
    </div>,
  );
}

const drawRow: Scene["drawRow"] = (row, scene) => <Row key={row.position} row={row} scene={scene} />;

/**
 * @param part a part's index, or `part.block+offset` for the rest of a block
 * @returns undefined if `part`, which comes from the browser, names none
 */
export async function drawBody(row: ReaderRow, view: View, part = "0"): Promise<string | undefined> {
  const [, partIndex, blockIndex, offset] = /^(\d{1,4})(?:\.(\d{1,4})\+(\d{1,9}))?$/.exec(part) ?? [];
  const own = row.members.find(({ position }) => position === row.position) ?? row;
  const wanted = own.parts[Number(partIndex)];
  if (!wanted) return undefined;
  const { position, positions } = own;
  const scene = { ...(await prepareScene(view, [own])), sessions: {}, drawRow, position, positions };
  const drawn = { scene, effort: scene.open, max: slices.more };
  if (blockIndex === undefined) return toHtml(<Blocks part={wanted} at={Number(partIndex)} {...drawn} />);
  const block = wanted.blocks[Number(blockIndex)];
  if (!block) return undefined;
  return toHtml(<BlockFrom block={block} at={`${partIndex}.${blockIndex}`} from={Number(offset)} {...drawn} />);
}
