import { type AuditAction, type AuditEvent, auditActions } from "#lib/auth/audit";
import { ClientName } from "./client-name";
import { Time } from "./time";

const failures: AuditAction[] = ["sign_in_failed", "reauthentication_failed"];

export function EventList({ events, label }: { events: AuditEvent[]; label: string }) {
  return (
    <ul aria-label={label} className="border-hairline border-t">
      {events.map((event) => (
        <EventRow key={event.id} event={event} />
      ))}
    </ul>
  );
}

function EventRow({ event: { action, subject, address, userAgent, createdAt } }: { event: AuditEvent }) {
  return (
    <li className="grid gap-x-4 gap-y-0.5 border-hairline border-b py-2 sm:grid-cols-[1fr_16rem_9rem] sm:items-baseline">
      <p className="min-w-0 [overflow-wrap:anywhere]">
        <span className={failures.includes(action) ? "font-medium text-bad" : "font-medium"}>
          {auditActions[action] ?? action}
        </span>
        {subject && <span className="text-muted"> · {subject}</span>}
      </p>
      <p className="min-w-0 text-code text-muted">
        <span className="font-mono">{address}</span>
        {userAgent && " · "}
        <ClientName userAgent={userAgent} />
      </p>
      <p className="text-code text-muted sm:text-right">
        <Time at={createdAt.toISOString()} as="moment" />
      </p>
    </li>
  );
}
