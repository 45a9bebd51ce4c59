"use client";
import { useActionState, useEffect } from "react";
import { Check } from "./field";
import type { FormAction } from "./form";

export type ProviderState = { url?: string | undefined; error?: string };

type Props = {
  action: FormAction<ProviderState>;
  provider: string;
  label: string;
  next?: string;
  remember?: boolean;
};

/**
 * The policy's `form-action` forbids redirects to the provider, so the action returns its address; without JavaScript
 * the last step is a link.
 */
export function ProviderForm({ action, provider, label, next, remember }: Props) {
  const [{ url, error }, send, pending] = useActionState(action, {});
  useEffect(() => {
    if (url) location.assign(url);
  }, [url]);
  return (
    <form action={send} className="flex flex-col gap-2">
      {error && (
        <p role="alert" className="text-bad">
          {error}
        </p>
      )}
      <input type="hidden" name="provider" value={provider} />
      {next !== undefined && <input type="hidden" name="next" value={next} />}
      {url ? (
        <a href={url} className="button" rel="noreferrer">
          Continue to {new URL(url).hostname}
        </a>
      ) : (
        <button type="submit" aria-disabled={pending} className="button">
          {label}
        </button>
      )}
      {remember && <Check name="remember" label="and remember this browser" />}
    </form>
  );
}
