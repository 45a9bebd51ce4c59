import { v5 as uuidOf } from "uuid";
import type { StoredReport } from "#lib/telemetry/report";

/** One record sent to a sink. Its id is the same on every attempt, so that the sink can drop duplicates. */
export type TelemetryFact = {
  id: string;
  name: "spoor scan" | "spoor diagnostic" | "spoor client event";
  facts: object;
};

/**
 * Splits a report into records: the scan, each diagnostic, each client event. Names chosen by a client are sent as values
 * only, never as an event name that the sink may interpret (`$identify`).
 */
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
