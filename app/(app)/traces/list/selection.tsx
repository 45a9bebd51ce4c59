"use client";
import { startTransition, useEffect, useRef, useState } from "react";
import { formatQuantity } from "../../../components/values/figures";
import { markSessions, tagSessions } from "../marks/actions";
import { BulkDialog } from "./bulk-dialog";

type Props = {
  shown: number;
  total: string;
  exportHref: string;
  deleteHref: string;
  children: React.ReactNode;
};

const listBoxes = (form: HTMLFormElement) => [
  ...form.querySelectorAll<HTMLInputElement>("[data-rows] input[type=checkbox]"),
];

/** The boxes belong to the surrounding form, which works without JavaScript. */
export function Selection({ shown, total, exportHref, deleteHref, children }: Props) {
  const bar = useRef<HTMLDivElement>(null);
  const [ticked, setTicked] = useState(0);
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    const onTick = (count: number) => {
      setTicked(count);
      setWhole(false);
    };
    return followBoxes(bar.current?.closest("form"), onTick);
  }, []);
  const tickAll = (checked: boolean) => {
    const form = bar.current?.closest("form");
    for (const box of form ? listBoxes(form) : []) box.checked = checked;
    if (form) keepTicked(form);
    setTicked(checked ? shown : 0);
    setWhole(false);
  };
  return (
    <div
      ref={bar}
      className="relative top-(--bar) z-[5] flex min-h-12 items-center gap-x-3 gap-y-1 bg-page py-2 noscript:flex-wrap sm:sticky"
    >
      {shown > 0 && <AllBox ticked={ticked} shown={shown} onChange={tickAll} />}
      <div className="min-w-0 flex-1">{children}</div>
      {ticked === 0 ? (
        shown > 0 && (
          <>
            <a href={exportHref} download title={`Export ${total} as JSON lines`} className="button">
              Export
            </a>
            <p className="hidden gap-2 noscript:flex">
              <TickedButtons exportName="Export ticked" deleteName="Delete ticked" />
              <a href={deleteHref} className="button">
                Delete all
              </a>
            </p>
          </>
        )
      ) : (
        <div className="flex flex-wrap items-center justify-end gap-2 max-sm:fixed max-sm:inset-x-0 max-sm:bottom-(--tabs) max-sm:border-hairline max-sm:border-t max-sm:bg-overlay max-sm:p-3">
          <p role="status">{isWhole ? `All ${total} selected` : `${ticked} selected`}</p>
          {ticked === shown && !isWhole && (
            <button type="button" className="link" onClick={() => setWhole(true)}>
              Select all {total} of this filter
            </button>
          )}
          <button type="button" className="link" onClick={() => tickAll(false)}>
            Clear
          </button>
          <span className="ml-auto flex flex-wrap justify-end gap-2 max-sm:*:grow">
            {isWhole ? (
              <>
                <a href={exportHref} download className="button">
                  Export
                </a>
                <a href={deleteHref} className="button button-bad">
                  Delete
                </a>
              </>
            ) : (
              <>
                <MarkTicked bar={bar} onGone={() => tickAll(false)} />
                <TickedButtons exportName="Export" deleteName="Delete" />
              </>
            )}
          </span>
        </div>
      )}
    </div>
  );
}

function MarkTicked({ bar, onGone }: { bar: React.RefObject<HTMLDivElement | null>; onGone: () => void }) {
  const [error, setError] = useState<string>();
  const [asked, setAsked] = useState<"tag" | "archive">();
  const ids = () => {
    const form = bar.current?.closest("form");
    return (form ? listBoxes(form) : []).filter(({ checked }) => checked).map(({ value }) => value);
  };
  const run = (work: () => Promise<string | undefined | void>) =>
    startTransition(() =>
      work().then(
        (wrong) => setError(wrong ?? undefined),
        () => setError("Could not save. Nothing was changed."),
      ),
    );
  return (
    <>
      {error && (
        <p role="alert" className="self-center text-bad">
          {error}
        </p>
      )}
      <button type="button" className="button" onClick={() => run(() => markSessions(ids(), { starred: true }))}>
        Star
      </button>
      <button type="button" className="button" onClick={() => setAsked("tag")}>
        Tag
      </button>
      <button type="button" className="button" onClick={() => setAsked("archive")}>
        Archive
      </button>
      {asked === "tag" && (
        <BulkDialog
          title={`Tag ${formatQuantity(ids().length, "session")}`}
          action="Add tag"
          onSubmit={(fields) => run(() => tagSessions(ids(), String(fields.get("tag"))))}
          onClose={() => setAsked(undefined)}
        >
          <label className="flex flex-col gap-1">
            Tag
            <input name="tag" required maxLength={64} autoComplete="off" className="input" />
          </label>
        </BulkDialog>
      )}
      {asked === "archive" && (
        <BulkDialog
          title={`Archive ${formatQuantity(ids().length, "session")}?`}
          action="Archive"
          onSubmit={() => run(() => markSessions(ids(), { archived: true }).then(onGone))}
          onClose={() => setAsked(undefined)}
        >
          <p>Archived sessions leave the list. Searches and the view “Archived” still show them.</p>
        </BulkDialog>
      )}
    </>
  );
}

function TickedButtons({ exportName, deleteName }: { exportName: string; deleteName: string }) {
  return (
    <>
      <button type="submit" formAction="/api/traces/export" className="button">
        {exportName}
      </button>
      <button
        type="submit"
        formAction="/api/traces/export"
        name="masked"
        value="all"
        className="button"
        title="Without secrets, and without names of home folders, users and machines"
      >
        {exportName} (secrets masked)
      </button>
      <button type="submit" className="button button-bad">
        {deleteName}
      </button>
    </>
  );
}

type AllBoxProps = { ticked: number; shown: number; onChange: (checked: boolean) => void };

function AllBox({ ticked, shown, onChange }: AllBoxProps) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = ticked > 0 && ticked < shown;
  }, [ticked, shown]);
  return (
    <label className="tick noscript:hidden">
      <input
        ref={box}
        type="checkbox"
        aria-label={`Select all ${shown} on this page`}
        checked={ticked === shown}
        onChange={(event) => onChange(event.target.checked)}
      />
    </label>
  );
}

/** The browser restores ticked boxes only across documents. */
function keepTicked(form: HTMLFormElement): void {
  const ids = listBoxes(form).flatMap(({ checked, value }) => (checked ? [value] : []));
  history.replaceState({ ...history.state, spoorTicked: { document: performance.timeOrigin, ids } }, "");
}

function restoreTicked(form: HTMLFormElement): void {
  const { document: origin, ids } = (history.state?.spoorTicked ?? {}) as { document?: number; ids?: string[] };
  if (origin !== performance.timeOrigin || !ids) return;
  for (const box of listBoxes(form)) if (ids.includes(box.value)) box.checked = true;
}

function followBoxes(form: HTMLFormElement | null | undefined, onTick: (count: number) => void): () => void {
  if (!form) return () => {};
  let last: HTMLInputElement | undefined;
  const count = () => onTick(listBoxes(form).filter(({ checked }) => checked).length);
  const onClick = (event: MouseEvent) => {
    const boxes = listBoxes(form);
    const box = boxes.find((one) => one === event.target);
    if (!box) return;
    const [from, to] = [boxes.indexOf(last ?? box), boxes.indexOf(box)].toSorted((a, b) => a - b);
    if (event.shiftKey && from !== -1) for (const one of boxes.slice(from, to)) one.checked = box.checked;
    last = box;
    count();
    keepTicked(form);
  };
  restoreTicked(form);
  count(); // the browser may restore ticked boxes itself
  form.addEventListener("click", onClick);
  window.addEventListener("pageshow", count);
  return () => {
    form.removeEventListener("click", onClick);
    window.removeEventListener("pageshow", count);
  };
}
