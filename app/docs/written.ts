import { oncePerProcess } from "#lib/core/concurrency/once-per-process";

/** Avoids that React sends the reference again with the page's data. */
const reference = oncePerProcess("reference", () => ({ html: "" }));

export function handOverReference(html: string): void {
  reference.html = html;
}

/** Empty in the browser. */
export const writtenReference = (): string => reference.html;
