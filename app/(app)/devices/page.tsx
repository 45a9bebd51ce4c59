import type { Metadata } from "next";
import { type AuditAction, listEvents } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { listGrants } from "#lib/auth/oauth/grants";
import { listTokens } from "#lib/auth/tokens";
import { env } from "#lib/core/env";
import { scopes, usualScopes } from "#lib/core/fields";
import { listApprovedLogins } from "#lib/device/login";
import { Command } from "../../components/command";
import { fetchCommand, installCommand } from "../../components/command-text";
import { type FieldSpec, Form } from "../../components/forms/form";
import { scopeLabels } from "../../components/forms/scopes";
import { Section } from "../../components/section";
import { EventList } from "../../components/values/event-list";
import { createTokenAction } from "./actions";
import { AgentList } from "./agent-list";
import { TokenList } from "./token-list";

export const metadata: Metadata = { title: "Machines" };

const signInActions: AuditAction[] = [
  "signed_in",
  "sign_in_failed",
  "password_accepted",
  "login_approved",
  "login_denied",
  "token_created",
  "token_revoked",
  "agent_allowed",
  "agent_ended",
];

const scopeFields: FieldSpec[] = scopes.map((scope) => ({
  name: scope,
  type: "checkbox",
  label: scopeLabels[scope],
  value: usualScopes.includes(scope) ? "on" : "",
}));

export default async function Page() {
  const user = await requireUser("/devices");
  const [tokens, logins, grants, events] = await Promise.all([
    listTokens(user.id),
    listApprovedLogins(user.id),
    listGrants(user.id),
    listEvents(user.id, { limit: 20, actions: signInActions }),
  ]);
  return (
    <div className="flex flex-col gap-10">
      <div className="flex flex-col gap-6">
        <h1 className="font-semibold text-title">Machines</h1>
        <Connect />
        <Section id="machines" title="Connected">
          {tokens.length + logins.length > 0 ? (
            <TokenList tokens={tokens} logins={logins} />
          ) : (
            <p className="text-muted">No machine is connected. The command above connects one.</p>
          )}
        </Section>
      </div>
      <Section id="agents" title="Connected agents (MCP)">
        {grants.length > 0 ? (
          <AgentList grants={grants} />
        ) : (
          <p className="max-w-[72ch] text-muted">Let an agent search your sessions:</p>
        )}
        {grants.length === 0 && <Command text={`claude mcp add --transport http spoor ${env().BASE_URL}/mcp`} />}
      </Section>
      <Section id="onboarding" title="A machine without a browser">
        <p className="max-w-[72ch] text-muted">
          For a build server, for example: create a token here and copy it there. It is valid for 90 days, and you can
          revoke it.
        </p>
        <div className="max-w-[40rem]">
          <Form
            action={createTokenAction}
            hidden={{ formId: crypto.randomUUID() }}
            fields={[
              { name: "machine", label: "Machine", autoComplete: "off", hint: "Any name that you recognize." },
              ...scopeFields,
            ]}
            submit="Create token"
          />
        </div>
      </Section>
      <Section id="events" title="Recent sign-ins">
        {events.length > 0 ? (
          <EventList events={events} label="Recent sign-ins" />
        ) : (
          <p className="text-muted">Nothing recorded yet.</p>
        )}
        <p>
          <a href="/settings/trail" className="link target">
            Full audit trail
          </a>
        </p>
      </Section>
    </div>
  );
}

function Connect() {
  const { BASE_URL } = env();
  return (
    <Section id="connect" title="Connect a machine">
      <p className="max-w-[72ch] text-muted">
        Run this on the machine, then approve the login in the browser it opens. It asks before changing any file and
        then sends sessions in the background.
      </p>
      <Command text={`${fetchCommand(BASE_URL)} && ${installCommand}`} />
    </Section>
  );
}
