"use client";
import { useActionState } from "react";
import { ErrorSummary } from "../components/forms/error-summary";
import { Field } from "../components/forms/field";
import type { FormAction } from "../components/forms/form";
import { NewPasswordField } from "../components/forms/new-password-field";
import { SubmitButton } from "../components/forms/submit-button";

type Props = {
  action: FormAction;
  token?: string;
  invitation?: { token: string; email: string | null };
};

export function AccountForm({ action, token, invitation }: Props) {
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
      {state.deadLink && invitation && (
        <p>
          If you have just created your account with it, <SignInLink />. Otherwise ask the person who sent it for a new
          one: an invitation creates one account and expires after seven days.
        </p>
      )}
      {invitation && <input type="hidden" name="invitation" value={invitation.token} />}
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
        defaultValue={state.values?.email ?? invitation?.email ?? undefined}
        error={state.errors?.email}
      />
      <NewPasswordField name="password" label="Password" error={state.errors?.password} />
      <SubmitButton pending={pending}>Create account</SubmitButton>
    </form>
  );
}

const SignInLink = () => (
  <a href="/sign-in" className="link">
    sign in
  </a>
);
