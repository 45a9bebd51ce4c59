"use client";
import { useActionState } from "react";
import { Field } from "../components/field";
import { ErrorSummary } from "./form-shell";
import type { FormState } from "./form-state";

type Props = { action: (before: FormState, form: FormData) => Promise<FormState>; token?: string };

/** Makes an account: the first one by a set-up link's token, or a member's. */
export function AccountForm({ action, token }: Props) {
  const [state, send, pending] = useActionState(action, {});
  return (
    <form action={send} noValidate className="flex flex-col gap-4">
      <ErrorSummary state={state} />
      {state.deadLink && token !== undefined && (
        <p>
          Restart the server: it prints a new link while there is no account. If there is one, <SignInLink />.
        </p>
      )}
      {token !== undefined && <input type="hidden" name="token" value={token} />}
      <Field
        name="name"
        label="Name"
        autoComplete="name"
        required
        maxLength={100}
        defaultValue={state.values?.name}
        error={state.errors?.name}
      />
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
        autoComplete="new-password"
        required
        hint="At least 10 characters."
        error={state.errors?.password}
      />
      <button type="submit" aria-disabled={pending} className="button button-accent">
        Create account
      </button>
    </form>
  );
}

const SignInLink = () => (
  <a href="/sign-in" className="link">
    sign in
  </a>
);
