import type { Metadata } from "next";
import { requireUser } from "#lib/auth/session";
import { type BrowserSession, listSessions } from "#lib/auth/sessions";
import { ClientName } from "../../../components/client-name";
import { Form } from "../../../components/form";
import { Time } from "../../../components/time";
import { endAction, endOthersAction } from "./actions";

export const metadata: Metadata = { title: "Sessions" };

/** The browsers that are signed in. */
export default async function Page() {
  const user = await requireUser("/settings/sessions");
  const sessions = await listSessions(user.id);
  return (
    <>
      <div className="flex flex-col gap-3">
        <h1 className="font-semibold text-title">Sessions</h1>
        <p className="text-muted">The browsers that are signed in to your account.</p>
        <ul aria-label="Sessions" className="border-hairline border-t">
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} current={session.id === user.sessionId} />
          ))}
        </ul>
      </div>
      {sessions.length > 1 ? (
        <Form action={endOthersAction} submit="Sign out all others" />
      ) : (
        <p className="text-muted">There is no other.</p>
      )}
    </>
  );
}

function SessionRow({ session, current }: { session: BrowserSession; current: boolean }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-hairline border-b py-2.5">
      <div className="min-w-0">
        <p className="font-medium">
          {session.userAgent ? <ClientName userAgent={session.userAgent} /> : "Unknown browser"}
          {current && <span className="font-normal text-accent"> · this one</span>}
        </p>
        <p className="flex flex-wrap gap-x-4 text-code text-muted">
          {session.ipAddress && <span className="font-mono">{session.ipAddress}</span>}
          <span>
            since <Time at={session.createdAt.toISOString()} as="moment" />
          </span>
          <span>
            last active <Time at={session.updatedAt.toISOString()} as="moment" />
          </span>
        </p>
      </div>
      {!current && <Form action={endAction} hidden={{ id: session.id }} submit="End session" />}
    </li>
  );
}
