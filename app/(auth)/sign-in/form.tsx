"use client";
import { useActionState } from "react";
import { ErrorSummary } from "../../components/error-summary";
import { Field } from "../../components/field";
import { signInAction } from "../actions";

export function SignInForm({ next }: { next: string }) {
  const [state, action, pending] = useActionState(signInAction, {});
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
      <button type="submit" aria-disabled={pending} className="button button-accent">
        Sign in
      </button>
    </form>
  );
}
