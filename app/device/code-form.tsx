import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { requireUser } from "#lib/auth/guards";
import { Field } from "../components/field";
import { requireOwnOrigin, text } from "../components/form-guard";
import { PlainPage } from "../components/plain-page";
import { lookUp } from "./look-up";
import { isSameNetwork } from "./network";
import { StartAgain } from "./outcome";
import { codelessHref } from "./stage";

/** Asks for the code that a terminal shows. Posted, because only that proves that it was typed: anybody can make a link. */
export function CodeForm({ unknown }: { unknown?: string }) {
  return (
    <PlainPage title="Connect a machine">
      <form action={enterCode} className="flex flex-col gap-4">
        <Field
          name="code"
          label="Code"
          required
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          placeholder="XXXX-XXXX"
          defaultValue={unknown}
          hint="The eight letters that your terminal shows. Case, spaces and dashes do not matter."
          error={unknown === undefined ? undefined : "There is no login with this code."}
          className="font-mono"
        />
        <button type="submit" className="button button-accent">
          Continue
        </button>
      </form>
      {unknown !== undefined && <StartAgain />}
    </PlainPage>
  );
}

/** Leads to the login of a typed code. */
async function enterCode(form: FormData): Promise<never> {
  "use server";
  const user = await requireUser("/device");
  const requestHeaders = await headers();
  await requireOwnOrigin();
  const typed = text(form, "code").trim().slice(0, 64);
  const login = await lookUp(user.id, typed);
  if (!login) redirect(`/device?unknown=${encodeURIComponent(typed)}`);
  const near = isSameNetwork(login.ipAddress, requestHeaders);
  redirect(near ? `/device?code=${login.userCode}` : codelessHref(user, "typed", login.id));
}
