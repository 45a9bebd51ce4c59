"use server";
import { decide } from "./decide";

/** Lets the agent in that a page showed. */
export async function approve(form: FormData): Promise<never> {
  return decide("approved", form);
}

/** Does not let the agent in that a page showed. */
export async function deny(form: FormData): Promise<never> {
  return decide("denied", form);
}
