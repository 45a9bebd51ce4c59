"use client";
import { Tabs } from "@base-ui/react/tabs";
import { memo, useEffect, useRef } from "react";
import type { Outline, Turn } from "#lib/transcript/outline";
import { formatDate, isoDay } from "../../../../components/values/date-format";
import { formatCount, formatQuantity } from "../../../../components/values/figures";
import { useFrame } from "../frame/frame";
import { useCurrent } from "../frame/where";
import { Errors } from "./errors";
import { FileList, PlainFileList } from "./file-list";
import { Pick, type Picks } from "./pick";
import { turnAt } from "./turns";

export function OutlineRail({ outline }: { outline: Outline }) {
  const frame = useFrame();
  useEffect(() => frame.outline.set(outline), [frame, outline]);
  return <OutlineTabs outline={outline} />;
}

const tabLook =
  "flex h-8 items-center gap-1 border-transparent border-b-2 px-2 text-code text-muted hover:text-text data-active:border-accent data-active:text-text pointer-coarse:h-11";

export function OutlineTabs({ outline, onPick }: { outline: Outline; onPick?: () => void }) {
  const { turns, errors } = outline;
  const lists = [
    ["turns", "Turns", turns.length],
    ["files", "Files", outline.fileCount],
    ["errors", "Errors", errors.length],
  ] as const;
  return (
    <Tabs.Root defaultValue="turns" className="flex min-h-0 flex-1 flex-col">
      <Tabs.List aria-label="Outline" className="needs-script flex shrink-0 border-hairline border-b">
        {lists.map(([value, name, count]) => (
          <Tabs.Tab key={value} value={value} className={tabLook}>
            {name} <span className="text-meta text-muted">{formatCount(count)}</span>
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="turns" className="flex min-h-0 flex-1 flex-col">
        <Turns outline={outline} onPick={onPick} />
      </Tabs.Panel>
      <Tabs.Panel value="files" className="min-h-0 flex-1 overflow-y-auto">
        <FileList outline={outline} onPick={onPick} />
      </Tabs.Panel>
      <Tabs.Panel value="errors" className="min-h-0 flex-1 overflow-y-auto">
        <Errors errors={errors} onPick={onPick} />
      </Tabs.Panel>
      <noscript>
        <PlainFileList outline={outline} />
        <Errors errors={errors} onPick={undefined} />
      </noscript>
    </Tabs.Root>
  );
}

function Turns({ outline, onPick }: { outline: Outline } & Picks) {
  const { turns } = outline;
  const { zone } = useFrame();
  const active = turnAt(turns, useCurrent(outline));
  const scroller = useRef<HTMLDivElement>(null);
  const shown = useRef(-1);
  useEffect(() => {
    const place = scroller.current;
    const links = place?.querySelectorAll<HTMLElement>("a");
    if (!place || !links) return;
    links[shown.current]?.removeAttribute("aria-current");
    const link = links[active];
    shown.current = active;
    if (!link) return;
    link.setAttribute("aria-current", "true");
    // `scrollIntoView` would scroll the page as well.
    const [room, at] = [place.getBoundingClientRect(), link.getBoundingClientRect()];
    if (at.top < room.top || at.bottom > room.bottom) place.scrollTop += at.top - room.top - room.height / 3;
  }, [active]);
  if (turns.length === 0) return <p className="p-3 text-code text-muted">No prompts here.</p>;
  return (
    <div ref={scroller} className="relative min-h-0 flex-1 overflow-y-auto py-1">
      <TurnList turns={turns} zone={zone} onPick={onPick} />
    </div>
  );
}

/** Rendered once: the current turn is marked on its link. */
const TurnList = memo(function TurnList({ turns, zone, onPick }: { turns: Turn[]; zone: string } & Picks) {
  return (
    <ol className="trail">
      {turns.map((turn, index) => (
        <li key={turn.position} className="outline-row outline-turn">
          <Pick position={turn.position} onPick={onPick} title={turn.title} isTall>
            <span className="trail-dot" aria-hidden="true" />
            <span className="w-6 shrink-0 pt-0.5 text-right text-meta text-muted">{index + 1}</span>
            <span className="line-clamp-2 min-w-0 grow wrap-anywhere leading-5">{turn.title || "(no words)"}</span>
            <TurnFacts turn={turn} before={turns[index - 1]} zone={zone} />
          </Pick>
        </li>
      ))}
    </ol>
  );
});

/** Two lines: the time, and what the agent did. */
function TurnFacts({ turn, before, zone }: { turn: Turn; before: Turn | undefined; zone: string }) {
  const { at, tools, errors } = turn;
  const format = (parts: Intl.DateTimeFormatOptions) =>
    at === null ? "" : formatDate(new Date(at * 1000), zone, parts);
  const getTurnDay = (one: Turn | undefined) => one?.at && isoDay(new Date(one.at * 1000), zone);
  const isNewDay = before && getTurnDay(before) !== getTurnDay(turn);
  return (
    <span className="shrink-0 pt-0.5 text-right text-meta text-muted">
      {isNewDay && <span className="block">{format({ day: "numeric", month: "short" })}</span>}
      <span className="block">{format({ hour: "2-digit", minute: "2-digit" })}</span>
      {!isNewDay && errors > 0 && <span className="block text-bad">{formatQuantity(errors, "error")}</span>}
      {!isNewDay && errors === 0 && tools > 0 && <span className="block">{formatQuantity(tools, "tool")}</span>}
    </span>
  );
}
