"use server";
import { revalidatePath } from "next/cache";
import { currentOrigin } from "#lib/auth/audit";
import { idForm } from "#lib/auth/schema";
import { requireUser } from "#lib/auth/session";
import { createTokenByHand, revokeTokens } from "#lib/auth/tokens";
import { startRequest } from "#lib/device/schema";
import { faultsOf, refusalOf, refuseStrangers, text } from "../../components/form-guard";
import type { FormState } from "../../components/form-state";

/** An id that no token has, so that none is left out. */
const nobody = "00000000-0000-0000-0000-000000000000";

/** Ends one token. One that has ended already is what was asked for. */
export async function revokeAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/devices");
  const error = await refuseStrangers();
  if (error) return { error };
  const parsed = idForm.safeParse({ id: text(form, "id") });
  if (!parsed.success) return { error: "This token is not known." };
  await revokeTokens(user.id, parsed.data.id, await currentOrigin());
  revalidatePath("/devices");
  return {};
}

/** Ends every token of the account. */
export async function revokeAllAction(): Promise<FormState> {
  const user = await requireUser("/devices");
  const error = await refuseStrangers();
  if (error) return { error };
  await revokeTokens(user.id, { except: nobody }, await currentOrigin());
  revalidatePath("/devices");
  return {};
}

/** Makes a token for a machine without a browser. Its text is in this one answer and nowhere else. */
export async function makeTokenAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser("/devices");
  const values = { machine: text(form, "machine") };
  const error = await refuseStrangers();
  if (error) return { values, error };
  const parsed = startRequest.safeParse(values);
  if (!parsed.success)
    return { values, errors: { ...faultsOf(parsed.error), ...(values.machine.trim() ? {} : { machine: askName }) } };
  try {
    const token = await createTokenByHand(user.id, parsed.data.machine, await currentOrigin());
    revalidatePath("/devices");
    const label = `The token of ${parsed.data.machine}`;
    return { once: { label, text: token, note: howToUse } };
  } catch (refused) {
    return { values, ...refusalOf(refused) };
  }
}

const askName = "Enter a name for the machine.";
const howToUse =
  "Copy it now: it cannot be shown again. On the machine, set SPOOR_TOKEN to it, or send it yourself as “Authorization: Bearer” and the token.";
