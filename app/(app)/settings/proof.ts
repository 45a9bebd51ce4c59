import "server-only";
import { headers } from "next/headers";
import { auth } from "#lib/auth/auth";
import type { SignedInUser } from "#lib/auth/guards";
import { isRecent } from "#lib/auth/sign-in/sign-ins";
import type { FormState } from "../../components/forms/form";
import { codeError, passwordError, text } from "../../components/forms/form-guard";
import { proofFields } from "./proof-fields";

/** Required before changes to the account's sign-in methods. */
export type Proof = "password" | "code" | "recent";

/** Without password and second factor, a recent sign-in. */
export async function listProofs(user: SignedInUser): Promise<Proof[]> {
  const ways = await waysIn();
  const proofs: Proof[] = [...(ways.includes("credential") ? (["password"] as const) : [])];
  if (user.twoFactorEnabled) proofs.push("code");
  return proofs.length > 0 ? proofs : ["recent"];
}

/** @returns the form's state if the proofs are missing */
export async function refuseUnproved(user: SignedInUser, form: FormData): Promise<FormState | undefined> {
  const proofs = await listProofs(user);
  if (proofs.includes("recent") && !(await isRecent(user.id, user.signInId))) return { error: signInAgain };
  const asked = proofs.filter((proof) => proof !== "recent");
  const missing = asked.filter((proof) => text(form, proofFields[proof].name) === "");
  if (missing.length > 0) return { errors: Object.fromEntries(missing.map(getProofMessage)) };
  // The password first, since checking spends a code.
  for (const proof of asked) {
    const { name } = proofFields[proof];
    const error = await (proof === "password" ? passwordError : codeError)(user.id, text(form, name));
    if (error) return { errors: { [name]: error } };
  }
  return undefined;
}

function getProofMessage(proof: keyof typeof proofFields): [name: string, message: string] {
  const { name, label } = proofFields[proof];
  return [name, `Enter your ${label.toLowerCase()}.`];
}

const signInAgain = "Sign out, sign in again with your provider, and return here within ten minutes.";

/** `credential` for a password, or a provider's name. */
export async function waysIn(): Promise<string[]> {
  const accounts = await auth().api.listUserAccounts({ headers: await headers() });
  return accounts.map(({ providerId }) => providerId);
}
