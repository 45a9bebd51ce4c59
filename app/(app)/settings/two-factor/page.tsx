import type { Metadata } from "next";
import { isFactorRequired, requireAnyUser } from "#lib/auth/guards";
import { findLocalPath } from "#lib/http/address";
import { Notice } from "../../../components/notice";
import { listProofs } from "../proof";
import { ChangeForm } from "./change-form";
import { EnrolForm } from "./enrol-form";

export const metadata: Metadata = { title: "Two-factor authentication" };

export default async function Page({ searchParams }: PageProps<"/settings/two-factor">) {
  const user = await requireAnyUser("/settings/two-factor");
  const { twoFactorEnabled } = user;
  const { on, next } = await searchParams;
  const isRequired = isFactorRequired();
  const proofs = await listProofs(user);
  return (
    <>
      <div className="flex max-w-[60ch] flex-col gap-2">
        <h1 className="font-semibold text-title">Two-factor authentication</h1>
        {on === "1" && twoFactorEnabled && (
          <Notice tone="info">
            <p role="status">Two-factor authentication is on. The next sign-in asks for a code.</p>
          </Notice>
        )}
        {isRequired && !twoFactorEnabled && (
          <Notice tone="warn">
            <p>This server requires two-factor authentication. Set it up to go on; your machines keep working.</p>
          </Notice>
        )}
        <p className="text-muted">
          {twoFactorEnabled
            ? "On: signing in asks for a code from your authenticator app, or a recovery code, after the password or the provider."
            : "Off. When it is on, signing in asks for a code from an authenticator app after the password or the provider."}
        </p>
        {!twoFactorEnabled && proofs.includes("recent") && (
          <p className="text-muted">This account has no password: turn it on within ten minutes of signing in.</p>
        )}
      </div>
      <div className="max-w-[25rem]">
        {twoFactorEnabled ? (
          <ChangeForm proofs={proofs} isRequired={isRequired} />
        ) : (
          <EnrolForm proofs={proofs} next={findLocalPath(next) ?? ""} />
        )}
      </div>
    </>
  );
}
