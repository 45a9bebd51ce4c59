import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { listSignIns, maxListedSignIns, type SignIn } from "#lib/auth/sign-in/sign-ins";
import { Form } from "../../../components/forms/form";
import { ClientName } from "../../../components/values/client-name";
import { Time } from "../../../components/values/time";
import { endAction, endOthersAction } from "./actions";

export const metadata: Metadata = { title: "Signed-in browsers" };

export default async function Page() {
  const user = await requireUser("/settings/sign-ins");
  const signIns = await listSignIns(user.id);
  return (
    <>
      <div className="flex flex-col gap-3">
        <h1 className="font-semibold text-title">Signed-in browsers</h1>
        <p className="text-muted">
          Every browser that is signed in to your account.
          {user.twoFactorEnabled &&
            " Signing out a browser ends trust in all of them: every next sign-in asks for the second factor."}
        </p>
        <ul aria-label="Signed-in browsers" className="border-hairline border-t">
          {signIns.map((signIn) => (
            <SignInRow key={signIn.id} signIn={signIn} current={signIn.id === user.signInId} />
          ))}
        </ul>
        {signIns.length === maxListedSignIns && (
          <p className="text-muted">Only the {maxListedSignIns} that were active last are listed.</p>
        )}
      </div>
      {signIns.length > 1 ? (
        <Form action={endOthersAction} submit="Sign out all others" />
      ) : (
        <p className="text-muted">No other browser is signed in.</p>
      )}
    </>
  );
}

function SignInRow({ signIn, current }: { signIn: SignIn; current: boolean }) {
  const { id, userAgent, ipAddress, createdAt, updatedAt } = signIn;
  const name = userAgent ? <ClientName userAgent={userAgent} /> : "Unknown browser";
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 border-hairline border-b py-2.5">
      <div className="min-w-0">
        <p id={`sign-in-${id}`} className="font-medium">
          {name}
          {current && <span className="font-normal text-accent"> · this browser</span>}
        </p>
        <p className="flex flex-wrap gap-x-4 text-code text-muted">
          {ipAddress && <span className="font-mono">{ipAddress}</span>}
          <span>
            since <Time at={createdAt.toISOString()} as="moment" />
          </span>
          <span>
            last active <Time at={updatedAt.toISOString()} as="moment" />
          </span>
        </p>
      </div>
      {!current && (
        <Form
          action={endAction}
          hidden={{ id }}
          submit="Revoke"
          describedBy={`sign-in-${id}`}
          question={<>Sign out {name}?</>}
        />
      )}
    </li>
  );
}
