import type { Metadata } from "next";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import { OauthError } from "#lib/auth/oauth/protocol";
import { answerAddress } from "#lib/auth/oauth/request";
import { isTicket } from "#lib/auth/sent-forms";
import { PlainPage } from "../../components/plain-page";
import { Consent } from "./consent";
import { readRequest, ticketSubject } from "./decide";

export const metadata: Metadata = { title: "Connect an agent" };

/** The authorization endpoint for agents (RFC 6749, section 4.1.1). */
export default async function Page({ searchParams }: PageProps<"/oauth/authorize">) {
  const query = await searchParams;
  const given = Object.entries(query).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one]));
  const text = new URLSearchParams(given).toString();
  const user = await requireUser(`/oauth/authorize?${text}`);
  if (typeof query.to === "string") return <Answer user={user} to={query.to} ticket={query.ticket} />;
  const request = readRequest(query);
  if (request instanceof OauthError) return <Unknown reason={request.message} />;
  if (!("refused" in request)) return <Consent user={user} request={request} query={text} />;
  const { code: error, message } = request.refused;
  const to = answerAddress(request.returnTo, { error, error_description: message });
  return <Leave name={request.client.name} to={to} title="The agent's request is not valid" text={message} />;
}

/** The link's author is unknown, so nobody is redirected. */
function Unknown({ reason }: { reason: string }) {
  return (
    <PlainPage title="Unknown agent">
      <p>{reason}</p>
      <p className="text-muted">The agent got no access. Remove this server in your agent, and add it again.</p>
    </PlainPage>
  );
}

/** Only an address with this server's ticket is followed. */
function Answer({ user, to, ticket }: { user: SignedInUser; to: string; ticket: string | string[] | undefined }) {
  if (!isTicket(ticket, user.signInId, ticketSubject("answer", to)))
    return <Unknown reason="This answer belongs to another sign-in." />;
  const isAllowed = new URL(to).searchParams.has("code");
  return (
    <>
      {/* A form's redirect may not lead to another site (Content-Security-Policy); this also works without JavaScript. */}
      <meta httpEquiv="refresh" content={`0;url=${to}`} />
      <Leave
        name="your agent"
        to={to}
        title={isAllowed ? "Connected" : "Denied"}
        text={
          isAllowed
            ? "The agent can read now. You can end its access on the page Machines."
            : "The agent got no access. You can close this page."
        }
      />
    </>
  );
}

function Leave({ name, to, title, text }: { name: string; to: string; title: string; text: string }) {
  return (
    <PlainPage title={title}>
      <p>{text}</p>
      <p>
        <a href={to} rel="noreferrer" className="link target">
          Return to {name}
        </a>
      </p>
    </PlainPage>
  );
}
