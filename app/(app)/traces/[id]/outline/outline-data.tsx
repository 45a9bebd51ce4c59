import "server-only";
import { cookies } from "next/headers";
import { isOverload } from "#lib/core/errors";
import type { Outline } from "#lib/transcript/outline";
import { OutlineRail } from "./outline";
import { asWidth, widthCookie } from "./widths";

/** A script or a style sheet moves it to its place. */
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

export function OutlinePending() {
  return <p className="p-3 text-code text-muted noscript:hidden">Reading the outline…</p>;
}

/** A cookie, so that the first paint has the width. */
export const readOutlineWidth = async (): Promise<number> => asWidth((await cookies()).get(widthCookie)?.value);
