import type { SignedInUser } from "#lib/auth/guards";
import { makeTicket } from "#lib/auth/ticket";
import type { LoginRequest } from "#lib/device/login";
import { Field } from "../components/field";
import { Notice } from "../components/notice";
import { PlainPage } from "../components/plain-page";
import { Time } from "../components/time";
import { decide } from "./decide";

type Props = { login: LoginRequest; user: SignedInUser; sameNetwork: boolean; retry: boolean };

/** The login's details, and the two decisions. */
export function Approval({ login: { createdAt, ...login }, user, sameNetwork, retry }: Props) {
  const shown = { id: login.id, userCode: login.userCode };
  const ticket = makeTicket(user.signInId, login.id);
  // Next encrypts what these actions close over, so a client can change neither the login nor whether it needs the code.
  async function approve(form: FormData): Promise<void> {
    "use server";
    const typed = sameNetwork ? undefined : String(form.get("typedCode") ?? "");
    await decide(shown, "approved", { ticket: form.get("ticket"), typed });
  }
  async function deny(form: FormData): Promise<void> {
    "use server";
    await decide(shown, "denied", { ticket: form.get("ticket") });
  }
  return (
    <PlainPage title="Approve this login?">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2 rounded-block border border-hairline bg-block p-4">
        <Fact name="Machine">
          <strong className="font-semibold">{login.machine}</strong>{" "}
          <span className="text-muted">(as reported, not verified)</span>
        </Fact>
        <Fact name="Code">
          <span className="font-mono text-title tracking-wider">{login.userCode}</span>
        </Fact>
        <Fact name="IP address">
          <span className="font-mono text-code">{login.ipAddress}</span>
        </Fact>
        {login.userAgent && <Fact name="Client">{login.userAgent}</Fact>}
        <Fact name="Started">
          <Time at={createdAt.toISOString()} as="ago" />
        </Fact>
        <Fact name="Account">
          {user.name} <span className="text-muted">({user.email})</span>
        </Fact>
      </dl>
      <p>
        Approve only a login that you started yourself, just now. The machine can then upload to this account and read
        it.
      </p>
      <form action={approve} id="approve" className="flex flex-col gap-4">
        <input type="hidden" name="ticket" value={ticket} />
        {!sameNetwork && <TypedCode retry={retry} />}
      </form>
      <form action={deny} id="deny">
        <input type="hidden" name="ticket" value={ticket} />
      </form>
      <div className="grid gap-3 sm:grid-cols-2">
        <button type="submit" form="deny" className="button">
          Deny
        </button>
        <button type="submit" form="approve" className="button">
          Approve
        </button>
      </div>
    </PlainPage>
  );
}

/** A person who was sent a link to someone else's login has no terminal that shows the code. */
function TypedCode({ retry }: { retry: boolean }) {
  return (
    <>
      <Notice tone="warn">
        <p>
          This login was started on <strong className="font-semibold">a different network</strong> from yours. If it is
          yours, type the code that its terminal shows.
        </p>
      </Notice>
      <Field
        name="typedCode"
        label="Code"
        required
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        error={retry ? "This is not the code of this login." : undefined}
        className="font-mono"
      />
    </>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
