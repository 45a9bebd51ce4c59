"use server";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import { requireUser } from "#lib/auth/guards";
import { requireOwnOrigin, text } from "../components/forms/form-guard";
import { decide } from "./decide";
import { codelessHref, isSameNetwork, lookUp } from "./stage";

export async function enterCode(form: FormData): Promise<never> {
  const user = await requireUser("/device");
  const requestHeaders = await headers();
  await requireOwnOrigin();
  const typed = text(form, "code").trim().slice(0, 64);
  const login = await lookUp(user.id, typed);
  if (!login) redirect(`/device?unknown=${encodeURIComponent(typed)}`);
  const near = isSameNetwork(login.ipAddress, requestHeaders);
  redirect(near ? `/device?code=${login.userCode}` : codelessHref(user, "typed", login.id));
}

export async function approve(form: FormData): Promise<never> {
  return decide("approved", form);
}

export async function deny(form: FormData): Promise<never> {
  return decide("denied", form);
}
