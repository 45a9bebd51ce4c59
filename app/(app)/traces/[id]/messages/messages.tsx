import type { ReaderRow } from "#lib/reader/message";
import { BlockFrom, Blocks } from "./blocks";
import { toHtml } from "./markup";
import { Row } from "./row";
import { prepareScene, type Scene, type View } from "./scene";
import { slices } from "./slices";

export type { View };

/**
 * The HTML of rows as the reader shows them, without any state in the browser: folds are native, and the page's client shell
 * acts on attributes.
 *
 * - `article#m{position}` with `data-position`, `data-positions` (all that lead to it, by spaces), `data-kind`,
 *   `data-turn-start`, `data-failed` and `data-talk` (`shown`, `hidden`); a group's members are `[data-member]` in it.
 * - `details[data-fold]`: every fold; `data-open` marks those that the server opens. One with `data-load` has its body loaded when it is
 *   opened: by `drawBody`, of the row at the position in `data-load`, with its `data-part`, made of the messages at
 *   `data-positions`.
 * - `button[data-copy]`: `block` and `command` copy the text of the `pre` beside the button; `message` copies the `content`
 *   of the messages at `data-positions` of the nearest `article` or `[data-member]`, which
 *   `/api/traces/{id}/messages?limit=1&after={position - 1}` gives (no `after` for position 0).
 * - `[data-divider]`: a line between rows, for a gap or a new day.
 * - `[data-wrap="off"]` on any element above: long lines of code scroll instead of breaking.
 *
 * @param talk leaves out the rows that Talk does not show
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
 * The HTML of a fold's body that was not on the page.
 *
 * @param part a part's index, or `part.block+offset` for the rest of a block: the fold's `data-part`
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
