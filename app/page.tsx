import { redirect } from "next/navigation";
import { currentUser } from "#lib/auth/guards";
import { needsSetup } from "#lib/auth/setup";

export default async function Page() {
  if (await currentUser()) redirect("/traces");
  redirect((await needsSetup()) ? "/setup" : "/sign-in");
}
