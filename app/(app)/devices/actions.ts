"use server";
import { revalidatePath } from "next/cache";
import { currentOrigin } from "#lib/auth/audit";
import { requireUser } from "#lib/auth/guards";
import { revokeGrant } from "#lib/auth/oauth/grants";
import { createTokenByHand, logOutMachines, revokeToken } from "#lib/auth/tokens";
import { scopes } from "#lib/core/fields";
import { withdrawLogin } from "#lib/device/login";
import { startRequest } from "#lib/device/schema";
import type { FormState } from "../../components/forms/form";
import {
  collectFieldErrors,
  endById,
  formIdIn,
  refuseForeignOrigin,
  requireForm,
  text,
  toFormState,
} from "../../components/forms/form-guard";
import { tickedScopes } from "../../components/forms/scopes";

const page = "/devices";

/** Asks first. Revoking a revoked token succeeds. */
export async function revokeAction(_before: FormState, form: FormData): Promise<FormState> {
  return endById(form, { page, unknown: "Unknown token." }, revokeToken);
}

/** Asks first. Withdrawing a closed login succeeds. */
export async function withdrawAction(_before: FormState, form: FormData): Promise<FormState> {
  return endById(form, { page, unknown: "Unknown login." }, withdrawLogin);
}

export async function disconnectAction(_before: FormState, form: FormData): Promise<FormState> {
  return endById(form, { page, unknown: "Unknown agent." }, revokeGrant);
}

/** Also denies logins that were approved but not yet redeemed. */
export async function revokeAllAction(): Promise<FormState> {
  const user = await requireUser(page);
  const error = await refuseForeignOrigin();
  if (error) return { error };
  await logOutMachines(user.id, await currentOrigin());
  revalidatePath(page);
  return {};
}

export async function createTokenAction(_before: FormState, form: FormData): Promise<FormState> {
  const user = await requireUser(page);
  const granted = tickedScopes(requireForm(form));
  const ticks = Object.fromEntries(scopes.map((scope) => [scope, text(form, scope)]));
  const values = { ...ticks, machine: text(form, "machine") };
  const error = await refuseForeignOrigin();
  if (error) return { values, error };
  if (granted.length === 0) return { values, error: askScopes };
  const parsed = startRequest.safeParse(values);
  if (!parsed.success)
    return {
      values,
      errors: { ...collectFieldErrors(parsed.error), ...(values.machine.trim() ? {} : { machine: askName }) },
    };
  try {
    const token = await createTokenByHand(user.id, parsed.data.machine, await currentOrigin(), granted, formIdIn(form));
    revalidatePath(page);
    const label = `The token of ${parsed.data.machine}`;
    return { once: { label, text: token, note: howToUse } };
  } catch (refused) {
    return { values, ...toFormState(refused) };
  }
}

const askName = "Enter a name for the machine.";
const askScopes = "Tick at least one thing that the machine can do.";
const howToUse =
  "Copy it now: it can't be shown again. On the machine, set SPOOR_TOKEN to it, or send it in the header “Authorization: Bearer …”.";
