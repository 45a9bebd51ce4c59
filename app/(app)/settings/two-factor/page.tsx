import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { Notice } from "../../../components/notice";
import { waysIn } from "../ways-in";
import { ChangeForm } from "./change-form";
import { EnrolForm } from "./enrol-form";

export const metadata: Metadata = { title: "Two-factor authentication" };

export default async function Page({ searchParams }: PageProps<"/settings/two-factor">) {
  const { twoFactorEnabled } = await requireUser("/settings/two-factor");
  const withPassword = (await waysIn()).includes("credential");
  const justOn = (await searchParams).on === "1" && twoFactorEnabled;
  return (
    <>
      <div className="flex max-w-[60ch] flex-col gap-2">
        <h1 className="font-semibold text-title">Two-factor authentication</h1>
        {justOn && (
          <Notice tone="info">
            <p role="status">Two-factor authentication is on. The next sign-in asks for a code.</p>
          </Notice>
        )}
        <p className="text-muted">
          {twoFactorEnabled
            ? "On: signing in asks for a code from your authenticator app, or a recovery code, after the password."
            : "Off. When it is on, signing in asks for a code from an authenticator app after the password."}
        </p>
        {!withPassword && (
          <p className="text-muted">
            This account has no password: use the second factor of the provider that you sign in with.
          </p>
        )}
      </div>
      {withPassword && <div className="max-w-[25rem]">{twoFactorEnabled ? <ChangeForm /> : <EnrolForm />}</div>}
    </>
  );
}
