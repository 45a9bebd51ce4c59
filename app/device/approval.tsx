import type { SignedInUser } from "#lib/auth/guards";
import { type Scope, scopes } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import type { LoginRequest } from "#lib/device/login";
import { Check, Field, Hidden } from "../components/forms/field";
import { scopeLabels } from "../components/forms/scopes";
import { Notice } from "../components/notice";
import { PlainPage } from "../components/plain-page";
import { Sign } from "../components/sign";
import { Time } from "../components/values/time";
import { approve, deny } from "./actions";
import { type Stage, stageTicket } from "./stage";

type Props = {
  login: LoginRequest;
  /** Only for a person on the login's network. */
  code?: string;
  user: SignedInUser;
  stage: Stage;
  retry: { wrong?: "code" | "scopes"; ticked: Scope[] };
};

export function Approval({ login: { createdAt, ...login }, code, user, stage, retry }: Props) {
  const shown = { login: login.id, code: code ?? "", ticket: stageTicket(user, stage, login.id) };
  return (
    <PlainPage title="Approve this login?">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2 rounded-block border border-hairline bg-block p-4">
        <Fact name="Machine">
          <strong className="font-semibold">{login.machine}</strong>{" "}
          <span className="text-muted">(as reported, not verified)</span>
        </Fact>
        {code && (
          <Fact name="Code">
            <span className="font-mono text-title tracking-wider">{code}</span>
          </Fact>
        )}
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
      <p>Approve only a login that you started yourself, just now.</p>
      <form action={approve} id="approve" className="flex flex-col gap-4">
        <Hidden fields={shown} />
        {stage !== "near" && <OtherNetwork asksCode={stage === "linked"} wrong={retry.wrong === "code"} />}
        <Grants asked={login.scopes} ticked={retry.ticked} none={retry.wrong === "scopes"} />
      </form>
      <form action={deny} id="deny">
        <Hidden fields={shown} />
      </form>
      <div className="grid gap-3 sm:grid-cols-2">
        {/* Each has its own colour and sign; screen readers read the word first. */}
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

/** A victim of phishing has no terminal that shows the code. */
function OtherNetwork({ asksCode, wrong }: { asksCode: boolean; wrong: boolean }) {
  return (
    <>
      <Notice tone="warn">
        <p>
          This login was started on <strong className="font-semibold">a different network</strong> from yours.
          {asksCode && " If it is yours, type the code that its terminal shows."} If somebody sent you the link or a
          code, deny it. They would get access to this account.
        </p>
      </Notice>
      {asksCode && (
        <Field
          name="typedCode"
          label="Code"
          required
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          error={wrong ? "This is not the code of this login." : undefined}
          className="font-mono"
        />
      )}
    </>
  );
}

function Grants({ asked, ticked, none }: { asked: Scope[]; ticked: Scope[]; none: boolean }) {
  return (
    <fieldset className="flex flex-col gap-1" aria-describedby={none ? "grants-error" : undefined}>
      <legend className="mb-1 font-medium">The machine can then</legend>
      {scopes.map((scope) => (
        <Check key={scope} name={scope} label={scopeLabels[scope]} defaultChecked={ticked.includes(scope)} />
      ))}
      {none && (
        <p id="grants-error" className="text-meta text-bad">
          Tick at least one, or deny the login.
        </p>
      )}
      <p className="text-meta text-muted">
        For {limits.device.tokenDays} days, or until you revoke it on the page Machines.
      </p>
      {asked.includes("originals") && (
        <div className="mt-2">
          <Notice tone="info">
            <p>
              Exact copies are sessions' files as the agent keeps them, so that you can resume a session on another
              machine. The machine encrypts them with a key that this server does not have. Secrets in them are not
              masked.
            </p>
          </Notice>
        </div>
      )}
      {asked.includes("delete") && (
        <div className="mt-2">
          <Notice tone="warn">
            <p>This client asks to delete sessions. It doesn’t need that to upload and read them.</p>
          </Notice>
        </div>
      )}
    </fieldset>
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
