import "server-only";
import { isOverload } from "#lib/errors";
import type { Outline } from "#lib/reader/outline";
import { OutlineRail } from "./outline";

/**
 * The outline of the whole session, however much of it is loaded. It is streamed after the messages to the end of the page,
 * from where a script moves it to its place; without script a style sheet shows it there (app/styles/reader.css).
 */
export async function OutlineData({ read }: { read: () => Promise<Outline | undefined> }) {
  const outline = await read().catch((error) => {
    if (!isOverload(error)) throw error;
  });
  return (
    <div id="outline" data-outline="">
      {outline ? <OutlineRail outline={outline} /> : <p className="p-3 text-code text-muted">{tooBusy}</p>}
    </div>
  );
}

const tooBusy = "The outline takes too long to read. Reload the page to try again.";

/** The placeholder until the outline is there. */
export function OutlinePending() {
  return <p className="p-3 text-code text-muted noscript:hidden">Reading the outline…</p>;
}
