import { v5 as uuidOf } from "uuid";
import type { StoredReport } from "#lib/telemetry/report";

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
