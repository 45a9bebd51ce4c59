import { redirect } from "next/navigation";
import { needsSetup } from "#lib/auth/accounts";
import { currentUser } from "#lib/auth/session";

/** `/` shows nothing of its own. */
export default async function Page() {
  if (await currentUser()) redirect("/traces");
  redirect((await needsSetup()) ? "/setup" : "/sign-in");
}
