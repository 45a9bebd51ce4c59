import type { SignedInUser } from "#lib/auth/guards";
import { makeTicket } from "#lib/auth/sent-forms";
import { limits } from "#lib/core/limits";
import { labelText, listProjects } from "#lib/projects/queries";
import { Hidden } from "../../components/forms/field";
import { PlainPage } from "../../components/plain-page";
import { Sign } from "../../components/sign";
import { approve, deny } from "./actions";
import { type Asked, ticketSubject } from "./decide";

const maxProjects = 100;

export async function Consent({ user, request, query }: { user: SignedInUser; request: Asked; query: string }) {
  const { client, returnTo } = request;
  const { projects } = await listProjects(user.id, { sort: "active", limit: maxProjects });
  const shown = { request: query, ticket: makeTicket(user.signInId, ticketSubject("consent", query)) };
  return (
    <PlainPage title="Let this agent read your sessions?">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2 rounded-block border border-hairline bg-block p-4">
        <dt className="text-muted">Agent</dt>
        <dd className="min-w-0 break-words">
          <strong className="font-semibold">{client.name}</strong>{" "}
          <span className="text-muted">(as reported, not verified)</span>
        </dd>
        <dt className="text-muted">Answers to</dt>
        <dd className="min-w-0 break-words font-mono text-code">{describeRedirect(returnTo.redirectUri)}</dd>
        <dt className="text-muted">Account</dt>
        <dd className="min-w-0 break-words">
          {user.name} <span className="text-muted">({user.email})</span>
        </dd>
      </dl>
      <form action={approve} id="approve" className="flex flex-col gap-4">
        <Hidden fields={shown} />
        <div className="flex flex-col gap-1">
          <label htmlFor="project" className="font-medium">
            It can then search and read
          </label>
          <select id="project" name="project" className="input" defaultValue="">
            <option value="">all of your sessions</option>
            {projects.map((project) => (
              <option key={project.id} value={project.id}>
                only the project {labelText(project)}
              </option>
            ))}
          </select>
          <p className="text-meta text-muted">
            It can't change or delete anything, and known secrets are masked. Access ends when you disconnect it on the
            page Machines, or after {limits.oauth.refreshDays} days without use.
          </p>
        </div>
      </form>
      <form action={deny} id="deny">
        <Hidden fields={shown} />
      </form>
      <p>Approve only an agent that you are connecting yourself, just now.</p>
      <div className="grid gap-3 sm:grid-cols-2">
        <button type="submit" form="deny" className="button flex-row-reverse gap-2 border-text bg-text text-page">
          Deny
          <Sign name="cross" />
        </button>
        <button type="submit" form="approve" className="button button-accent flex-row-reverse gap-2">
          Approve
          <Sign name="check" />
        </button>
      </div>
    </PlainPage>
  );
}

function describeRedirect(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === "http:") return `this computer (${hostname})`;
  return protocol === "https:" ? host : `the application at ${redirectUri}`;
}
