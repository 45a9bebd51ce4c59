import type { ReactNode } from "react";
import { shortPath } from "#lib/transcript/files/paths";
import { type Block, blockSize, type RowPart } from "#lib/transcript/message";
import type { ShownPicture } from "#lib/transcript/pictures";
import { makeRows } from "#lib/transcript/rows";
import { countLines, formatQuantity } from "#lib/transcript/text";
import { CodeBlock, Output } from "./code/code";
import { Diff } from "./code/diff";
import type { Effort } from "./effort";
import { markdownSlice, maxFolded, maxMarkdownCharacters, maxNested, plainSlice, slices } from "./folding";
import { Prose } from "./prose/prose";
import { Said } from "./prose/said";
import type { Scene } from "./scene";
import { KindSign } from "./sign";

type SliceLimits = { lines: number; characters: number };

type Drawn = { scene: Scene; effort: Effort; max: SliceLimits };

export function Blocks({ part, at, ...drawn }: { part: RowPart; at: number } & Drawn) {
  return part.blocks.map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a stored message never change their order
    <BlockFrom key={index} block={block} at={`${at}.${index}`} from={0} {...drawn} />
  ));
}

/** @param from a character, or a line of a diff */
export function BlockFrom({ block, at, from, ...drawn }: { block: Block; at: string; from: number } & Drawn) {
  const { scene, max } = drawn;
  switch (block.type) {
    case "tasks":
      return <Tasks items={block.items} />;
    case "transcript":
      return <Transcript block={block} scene={scene} />;
    case "diff": {
      const end = Math.min(block.lines.length, from + max.lines);
      const rest = block.lines.slice(end);
      return (
        <>
          {block.path && from === 0 && (
            <p className="block-label" title={block.path}>
              {shortPath(block.path, scene.place)}
            </p>
          )}
          <Diff lines={block.lines} from={from} to={end} language={block.language ?? ""} effort={drawn.effort} />
          {rest.length > 0 && (
            <Rest size={blockSize({ ...block, lines: rest })} lines={rest.length} at={`${at}+${end}`} scene={scene}>
              <BlockFrom block={block} at={at} from={end} {...drawn} max={slices.page} />
            </Rest>
          )}
        </>
      );
    }
    case "pictures":
      return <Pictures pictures={block.pictures} scene={scene} />;
    case "image":
      return <Picture block={block} at={at} asked={from > 0} scene={scene} />;
    case "markdown":
      if (!block.fold || from > 0) return <TextFrom block={block} at={at} from={from} {...drawn} />;
      return (
        <details className="more" data-fold="">
          <summary>{block.fold}</summary>
          <TextFrom block={block} at={at} from={from} {...drawn} effort={scene.closed} />
        </details>
      );
    default:
      return <TextFrom block={block} at={at} from={from} {...drawn} />;
  }
}

/** A larger image is loaded on request. */
const maxPicture = 256 * 1024;

/** Its part ends with `+1` once it was asked for. */
function Picture(props: { block: Extract<Block, { type: "image" }>; at: string; asked: boolean; scene: Scene }) {
  const { block, at, asked, scene } = props;
  const { text, label } = block;
  if (text.length > maxPicture && !asked)
    return <ToLoad label={`${label}, ${formatKilobytes(text.length)}`} part={`${at}+1`} scene={scene} />;
  // biome-ignore lint/performance/noImgElement: it stands in the message itself, and there is nothing to load
  return <img src={text} alt={label} className="image" />;
}

const formatKilobytes = (base64: number) => `${Math.ceil((base64 * 0.75) / 1024).toLocaleString("en")} KB`;

/** Fixed, so that nothing moves when the picture arrives. */
const thumbnail = { width: 160, height: 120 };

function Pictures({ pictures, scene }: { pictures: ShownPicture[]; scene: Scene }) {
  return (
    <p className="pictures">
      {pictures.map(({ sha256, mediaType, bytes }, at) => {
        const href = `${scene.pictures}/${sha256}`;
        const size = `${Math.ceil(bytes / 1024).toLocaleString("en")} KiB`;
        const alt = `Picture ${at + 1} of ${pictures.length}, ${mediaType}, ${size}`;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a stored message's pictures never change their order
          <a key={at} href={href} data-picture="">
            {/* biome-ignore lint/performance/noImgElement: it is small, and served as it is */}
            <img src={href} alt={alt} loading="lazy" {...thumbnail} />
          </a>
        );
      })}
    </p>
  );
}

type TextBlock = Extract<Block, { text: string }>;

function TextFrom({ block, at, from, ...drawn }: { block: TextBlock; at: string; from: number } & Drawn) {
  const { scene, effort, max } = drawn;
  const asMarkdown = block.type === "markdown" && block.text.length <= maxMarkdownCharacters;
  const { text, end } = (asMarkdown ? markdownSlice : plainSlice)(block.text, from, max);
  const rest = block.text.length - end;
  return (
    <>
      {asMarkdown ? (
        <Prose
          text={text}
          anchor={`m${scene.position}-${at.replace(".", "-")}-${from}`}
          words={scene.words}
          effort={effort}
        />
      ) : block.type === "said" ? (
        <Said text={text} effort={effort} />
      ) : block.type === "code" ? (
        <CodeBlock
          text={text.replace(/\n$/, "")}
          language={block.language}
          label={block.label}
          first={block.first === undefined ? undefined : block.first + countBreaks(block.text, from)}
          effort={effort}
        />
      ) : (
        <Output text={text.replace(/\n$/, "")} before={block.text.slice(0, from)} effort={effort} />
      )}
      {rest > 0 && (
        <Rest size={rest} lines={countLines(block.text.slice(end))} at={`${at}+${end}`} scene={scene}>
          <BlockFrom block={block} at={at} from={end} {...drawn} max={slices.page} />
        </Rest>
      )}
    </>
  );
}

function countBreaks(text: string, end: number): number {
  let breaks = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) breaks += 1;
  return breaks;
}

function Rest(props: { size: number; lines: number; at: string; scene: Scene; children: ReactNode }) {
  const { size, lines, at, scene, children } = props;
  const label = lines > 1 ? `${formatQuantity(lines, "more line")}` : `${formatQuantity(size, "more character")}`;
  if (size > maxFolded) return <ToLoad label={label} part={at} scene={scene} />;
  return (
    <details className="more" data-fold="">
      <summary>{label}</summary>
      {children}
    </details>
  );
}

export function ToLoad(props: { label: ReactNode; part: string; scene: Scene; className?: string }) {
  const { label, part, scene, className = "more" } = props;
  const { stored, position, positions, nested } = scene;
  if (nested) return <p className="cut">{label}</p>;
  const after = position > 0 ? `&after=${position - 1}` : "";
  return (
    <details
      className={className}
      data-fold=""
      data-load={position}
      data-positions={positions.join(" ")}
      data-part={part}
    >
      <summary>{label}</summary>
      {stored && (
        <p className="without-script">
          <a href={`${stored}?limit=1${after}`} className="link">
            As it is stored
          </a>
        </p>
      )}
    </details>
  );
}

const taskWords = { open: "to do", doing: "in progress", done: "done" };

function Tasks({ items }: { items: Extract<Block, { type: "tasks" }>["items"] }) {
  return (
    <ul className="tasks">
      {items.map(({ state, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a stored list never changes its order
        <li key={index} data-state={state}>
          <KindSign kind={state} />
          <span>
            {text}
            <span className="sr-only"> ({taskWords[state]})</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function Transcript({ block, scene }: { block: Extract<Block, { type: "transcript" }>; scene: Scene }) {
  const drawn = countDrawn(block.messages);
  const rows = makeRows(block.messages.slice(0, drawn));
  return (
    <details className="more" data-fold="">
      <summary>{formatQuantity(block.messages.length, "message")} of the sub-agent</summary>
      <div className="transcript">
        {rows.map((row) => scene.drawRow(row, { ...scene, nested: true }))}
        {block.messages.length > drawn && (
          <p className="cut">{formatQuantity(block.messages.length - drawn, "more message")}</p>
        )}
      </div>
    </details>
  );
}

function countDrawn(messages: { content: string }[]): number {
  let characters = 0;
  const beyond = messages.slice(0, maxNested.messages).findIndex(({ content }) => {
    characters += content.length;
    return characters > maxNested.characters;
  });
  return beyond === -1 ? Math.min(messages.length, maxNested.messages) : Math.max(1, beyond);
}
