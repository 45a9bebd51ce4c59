import "server-only";
import { v5 as uuidOf } from "uuid";
import { prisma } from "#lib/db/client";

/** Names no user and no address. */
export type StoredReport = NonNullable<Awaited<ReturnType<typeof loadReport>>>;

export async function loadReport(reportId: string) {
  const stored = await prisma().telemetryReport.findUnique({
    where: { id: reportId },
    omit: { userId: true },
    include: {
      diagnostics: { omit: { reportId: true, position: true }, orderBy: { position: "asc" } },
      events: { select: { name: true, properties: true }, orderBy: { position: "asc" } },
    },
  });
  if (!stored) return undefined;
  const { id, receivedAt, diagnostics, events, ...scan } = stored;
  return { id, receivedAt, scan, diagnostics: diagnostics.map(withNumbers), events };
}

type WithNumbers<T> = { [Key in keyof T]: T[Key] extends bigint ? number : T[Key] };

/** The schema bounds them by 2^53-1, which JSON can represent as numbers. */
function withNumbers<T extends object>(row: T): WithNumbers<T> {
  const entries = Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]);
  return Object.fromEntries(entries) as WithNumbers<T>;
}

/** The id is the same on every attempt, so that the sink can drop duplicates. */
export type TelemetryFact = {
  id: string;
  name: "spoor scan" | "spoor diagnostic" | "spoor client event";
  facts: object;
};

/** Names chosen by a client are only sent as values: a sink may interpret an event name such as `$identify`. */
export function splitReport({ id, scan, diagnostics, events }: StoredReport): TelemetryFact[] {
  const { deviceId: _sentSeparately, ...about } = scan;
  const facts: Omit<TelemetryFact, "id">[] = [
    { name: "spoor scan", facts: { ...about, diagnosticCount: diagnostics.length, eventCount: events.length } },
    ...diagnostics.map((diagnostic) => ({ name: "spoor diagnostic" as const, facts: { ...about, ...diagnostic } })),
    ...events.map((event) => ({
      name: "spoor client event" as const,
      facts: { ...about, eventName: event.name, eventProperties: event.properties },
    })),
  ];
  return facts.map((fact, index) => ({ ...fact, id: uuidOf(String(index), id) }));
}
