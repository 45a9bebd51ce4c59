"use client";
import { useActionState, useEffect } from "react";
import { ErrorSummary } from "../../components/forms/error-summary";
import { Check, Field } from "../../components/forms/field";
import { SubmitButton } from "../../components/forms/submit-button";
import { forgetSearches } from "../../components/shell/kept-searches";
import { signInAction } from "../actions";

export function SignInForm({ next }: { next: string }) {
  const [state, action, pending] = useActionState(signInAction, {});
  // This form only shows when nobody is signed in.
  useEffect(forgetSearches, []);
  return (
    <form action={action} noValidate className="flex flex-col gap-4">
      <ErrorSummary state={state} />
      <input type="hidden" name="next" value={next} />
      <Field
        name="email"
        label="Email"
        type="email"
        autoComplete="username"
        required
        defaultValue={state.values?.email}
        error={state.errors?.email}
      />
      <Field
        name="password"
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        error={state.errors?.password}
      />
      <Check
        name="remember"
        label="Remember this browser"
        defaultChecked={state.values?.remember === "on"}
        hint="For 30 days, or until a week without use. Otherwise until you close the browser, or a day without use."
      />
      <SubmitButton pending={pending}>Sign in</SubmitButton>
    </form>
  );
}
