import { redirect } from "next/navigation";
import { currentUser } from "#lib/auth/guards";
import { needsSetup } from "#lib/auth/setup";

/** `/` only redirects. */
export default async function Page() {
  if (await currentUser()) redirect("/traces");
  redirect((await needsSetup()) ? "/setup" : "/sign-in");
}
