import type { Metadata } from "next";
import { requireUser } from "#lib/auth/session";
import { Notice } from "../../../components/notice";
import { waysIn } from "../ways-in";
import { ChangeForm } from "./change-form";
import { EnrolForm } from "./enrol-form";

export const metadata: Metadata = { title: "Two-factor" };

export default async function Page({ searchParams }: PageProps<"/settings/two-factor">) {
  const { twoFactorEnabled } = await requireUser("/settings/two-factor");
  const withPassword = (await waysIn()).includes("credential");
  const justOn = (await searchParams).on === "1" && twoFactorEnabled;
  return (
    <>
      <div className="flex max-w-[60ch] flex-col gap-2">
        <h1 className="font-semibold text-title">Two-factor</h1>
        {justOn && (
          <Notice tone="info">
            <p role="status">It is on. The next sign-in asks for a code.</p>
          </Notice>
        )}
        <p className="text-muted">
          {twoFactorEnabled
            ? "On: after the password, signing in asks for a code of your authenticator app, or for a recovery code."
            : "Off. Switched on, signing in asks for a code of an authenticator app after the password."}
        </p>
        {!withPassword && (
          <p className="text-muted">
            This account has no password, so there is nothing to add a second factor to: what you sign in with has its
            own.
          </p>
        )}
      </div>
      {withPassword && <div className="max-w-[25rem]">{twoFactorEnabled ? <ChangeForm /> : <EnrolForm />}</div>}
    </>
  );
}
