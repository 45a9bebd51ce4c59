"use server";
import { decide } from "./decide";

export async function approve(form: FormData): Promise<never> {
  return decide("approved", form);
}

export async function deny(form: FormData): Promise<never> {
  return decide("denied", form);
}
