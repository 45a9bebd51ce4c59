// Vercel suspends a process between requests, when its idle connections would stay open until PostgreSQL has none left.
import "server-only";
import type pg from "pg";
import { env } from "#lib/core/env";

type Context = { get?(): { waitUntil?(work: Promise<unknown>): void } | undefined };
const contextKey = Symbol.for("@vercel/request-context");

export const idleMs = (): number => (env().VERCEL ? 5000 : 30_000);

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
