import { type Env, env } from "#lib/core/env";
import "server-only";
import { sha256 } from "#lib/core/digest";
import { prisma } from "#lib/db/client";
import type { Prisma } from "#lib/generated/prisma/client";
import { endLongWaits, isSinkOpen, upsertPause } from "#lib/telemetry/sql";

export type Sink = {
  kind: NonNullable<Env["TELEMETRY_SINK"]>;
  url: string;
  key: string | undefined;
  allowPrivate: boolean;
};

export function readSink(environment: Env): Sink | undefined {
  const { TELEMETRY_SINK: kind, TELEMETRY_SINK_URL: url, TELEMETRY_SINK_KEY: key } = environment;
  if (!kind || !url) return undefined;
  return { kind, url, key, allowPrivate: environment.TELEMETRY_SINK_ALLOW_PRIVATE === "1" };
}

export function appendPath(url: string, path: string): string {
  const target = new URL(url);
  const [given, wanted] = [target.pathname.replace(/\/+$/, ""), path.replace(/\/+$/, "")];
  if (!given.endsWith(wanted)) target.pathname = given + path;
  return target.href;
}

// Stored for all processes; the value is a hash of the sink's settings, so that changed settings start afresh.
const keys = { disabled: "telemetry_sink_disabled", paused: "telemetry_sink_paused" };

const fingerprint = ({ kind, url, key }: Sink) => sha256(JSON.stringify([kind, url, key])).toString("hex");

/** False after a 410, and during a pause. */
export function isOpen(sink: Sink, tx: Prisma.TransactionClient = prisma()): Promise<boolean> {
  return isSinkOpen(tx, fingerprint(sink), keys);
}

/** A longer pause stays. */
export async function pauseSink(sink: Sink, seconds: number): Promise<void> {
  await upsertPause(keys.paused, fingerprint(sink), seconds);
}

/** Ends waits and pauses that began while the database's clock was ahead. @param longestSeconds how long one can be */
export const endFutureWaits = (longestSeconds: number) => endLongWaits(keys.paused, longestSeconds);

/** Until the next start, or a change of its settings. */
export async function disableSink(sink: Sink): Promise<void> {
  const value = fingerprint(sink);
  await prisma().serverSetting.upsert({
    where: { key: keys.disabled },
    create: { key: keys.disabled, value },
    update: { value },
  });
}

export async function readSinkDisabledAt(): Promise<Date | undefined> {
  const sink = readSink(env());
  if (!sink) return undefined;
  const found = await prisma().serverSetting.findUnique({
    where: { key: keys.disabled, value: fingerprint(sink) },
    select: { updatedAt: true },
  });
  return found?.updatedAt;
}

export async function enableSinks(): Promise<void> {
  await prisma().serverSetting.deleteMany({ where: { key: { in: Object.values(keys) } } });
}
