import "server-only";
import type { SignedInUser } from "#lib/auth/guards";
import { isRecent } from "#lib/auth/sign-ins";
import { codeError, passwordError, text } from "../../components/form-guard";
import type { FormState } from "../../components/form-state";
import { proofFields } from "./proof-fields";
import { waysIn } from "./ways-in";

/** How a signed-in person proves again who they are before a change of what opens the account. */
export type Proof = "password" | "code" | "recent";

/** The password; for an account without one its second factor, and without either a sign-in of the last ten minutes. */
export async function proofOf(user: SignedInUser): Promise<Proof> {
  if ((await waysIn()).includes("credential")) return "password";
  return user.twoFactorEnabled ? "code" : "recent";
}

/** @returns what to show where the form does not hold the proof. */
export async function refuseUnproved(user: SignedInUser, form: FormData): Promise<FormState | undefined> {
  const proof = await proofOf(user);
  if (proof === "recent") return (await isRecent(user.id, user.signInId)) ? undefined : { error: signInAgain };
  const { name, label } = proofFields[proof];
  const given = text(form, name);
  if (given === "") return { errors: { [name]: `Enter your ${label.toLowerCase()}.` } };
  const error = await (proof === "password" ? passwordError : codeError)(user.id, given);
  return error ? { errors: { [name]: error } } : undefined;
}

const signInAgain = "Sign out, sign in again with your provider, and come back here within ten minutes.";
