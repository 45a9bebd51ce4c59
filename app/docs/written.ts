import { oncePerProcess } from "#lib/concurrency/once-per-process";

/** The reference is in the page's HTML. Passing it here avoids that React sends it again with the page's data. */
const reference = oncePerProcess("reference", () => ({ html: "" }));

export function handOverReference(html: string): void {
  reference.html = html;
}

/** Empty in the browser. */
export const writtenReference = (): string => reference.html;
