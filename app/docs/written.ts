import { oncePerProcess } from "#lib/concurrency/once-per-process";

/**
 * The reference is in its page's HTML; React would send it once more with the data of the page. It is handed over here instead, from
 * where the page is made to where its HTML is written: both are in one process.
 */
const reference = oncePerProcess("reference", () => ({ html: "" }));

export function handOverReference(html: string): void {
  reference.html = html;
}

/** In the browser there is none. */
export const writtenReference = (): string => reference.html;
