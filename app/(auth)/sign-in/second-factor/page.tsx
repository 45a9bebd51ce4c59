import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { currentUser } from "#lib/auth/guards";
import { localPath } from "#lib/http/address";
import { PlainPage } from "../../../components/plain-page";
import { CodeForm, RecoveryForm } from "./forms";

export const metadata: Metadata = { title: "Second factor" };

const here = "/sign-in/second-factor";

/** A cookie from the first step identifies the user. */
export default async function Page({ searchParams }: PageProps<"/sign-in/second-factor">) {
  const { next, recovery } = await searchParams;
  const target = localPath(typeof next === "string" ? next : undefined);
  if (await currentUser()) redirect(target);
  const query = `next=${encodeURIComponent(target)}`;
  const byRecovery = recovery === "1";
  return (
    <PlainPage title="Second factor">
      {byRecovery ? <RecoveryForm next={target} /> : <CodeForm next={target} />}
      <p>
        <a href={byRecovery ? `${here}?${query}` : `${here}?recovery=1&${query}`} className="link">
          {byRecovery ? "Use your authenticator app" : "Use a recovery code"}
        </a>
      </p>
      <p>
        <a href={`/sign-in?${query}`} className="link">
          Back to sign-in
        </a>
      </p>
    </PlainPage>
  );
}
