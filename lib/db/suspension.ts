// Vercel suspends a process that serves no request: its timers stand still, and its idle connections stay open until
// PostgreSQL has none left.
import "server-only";
import type pg from "pg";
import { env } from "#lib/env";

/** What Vercel tells of the current request, under a name that its own libraries and Next use. */
type Context = { get?(): { waitUntil?(work: Promise<unknown>): void } | undefined };
const contextKey = Symbol.for("@vercel/request-context");

/** How long a connection may be idle: where a process is suspended, it has to stay awake for as long. */
export const idleMs = (): number => (env().VERCEL ? 5000 : 30_000);

/** Keeps the process awake until the connections that it gives back have been closed. Elsewhere it does nothing. */
export function closeBeforeSuspension(pool: pg.Pool): void {
  if (!env().VERCEL) return;
  let sleepAgain = (): void => {};
  pool.on("release", () => {
    sleepAgain();
    const context = (globalThis as { [key: symbol]: Context | undefined })[contextKey];
    context?.get?.()?.waitUntil?.(
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, idleMs() + 100);
        sleepAgain = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    );
  });
}
