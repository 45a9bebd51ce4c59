import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { requireUser } from "#lib/auth/guards";
import { type Invitation, listInvitations } from "#lib/auth/invitations";
import { Form } from "../../../components/forms/form";
import { Section } from "../../../components/section";
import { Time } from "../../../components/values/time";
import { inviteAction, revokeInvitationAction } from "./actions";

export const metadata: Metadata = { title: "Invitations" };

/** A 404 for everybody but the owner. */
export default async function Page() {
  const user = await requireUser("/settings/invitations");
  if (user.role !== "owner") notFound();
  const invitations = await listInvitations(user.id);
  return (
    <>
      <div className="flex max-w-[40rem] flex-col gap-3">
        <h1 className="font-semibold text-title">Invitations</h1>
        <p className="text-muted">
          An invitation is a link that creates one account. Each account sees only its own sessions.
        </p>
        <Form
          action={inviteAction}
          hidden={{ formId: crypto.randomUUID() }}
          fields={[
            {
              name: "email",
              label: "Email",
              type: "email",
              autoComplete: "off",
              optional: true,
              hint: "Their email. Send the link yourself.",
            },
          ]}
          submit="Invite"
        />
      </div>
      <Section id="invited" title="All invitations">
        {invitations.length > 0 ? (
          <ul aria-label="Invitations" className="border-hairline border-t">
            {invitations.map((invitation) => (
              <InvitationRow key={invitation.id} invitation={invitation} />
            ))}
          </ul>
        ) : (
          <p className="text-muted">None yet.</p>
        )}
      </Section>
    </>
  );
}

const inks = { open: "text-accent", used: "text-ok", revoked: "text-muted", expired: "text-muted" } as const;

function InvitationRow({ invitation: { id, email, state, ...invitation } }: { invitation: Invitation }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-hairline border-b py-2.5">
      <div className="min-w-0">
        <p id={`invitation-${id}`} className="break-all font-medium">
          {email ?? "For anyone"}
        </p>
        <p className="flex flex-wrap gap-x-4 text-code text-muted">
          <span className={inks[state]}>{state}</span>
          <span>
            created <Time at={invitation.createdAt.toISOString()} as="moment" />
          </span>
          {state === "open" && (
            <span>
              expires <Time at={invitation.expiresAt.toISOString()} as="moment" />
            </span>
          )}
        </p>
      </div>
      {state === "open" && (
        <Form
          action={revokeInvitationAction}
          hidden={{ id }}
          submit="Revoke"
          describedBy={`invitation-${id}`}
          question={
            <>
              Revoke the invitation for <strong className="break-all font-semibold">{email ?? "anyone"}</strong>? Its
              link stops working.
            </>
          }
        />
      )}
    </li>
  );
}
