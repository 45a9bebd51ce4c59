"use client";
import { useActionState, useEffect } from "react";
import { ErrorSummary } from "../../components/forms/error-summary";
import { SpecifiedField } from "../../components/forms/form";
import type { Proof } from "./proof";
import { fieldsFor } from "./proof-fields";
import { changeProviderAction } from "./provider-actions";

type ProviderRow = { id: string; name: string; connected: boolean };

export function ProvidersForm({ rows, proofs }: { rows: ProviderRow[]; proofs: Proof[] }) {
  const [state, send, pending] = useActionState(changeProviderAction, {});
  const { url } = state;
  useEffect(() => {
    if (url) location.assign(url);
  }, [url]);
  if (url) {
    return (
      <a href={url} className="button w-fit" rel="noreferrer">
        Continue to {new URL(url).hostname}
      </a>
    );
  }
  return (
    <form action={send} noValidate className="flex flex-col gap-4">
      <ErrorSummary state={state} />
      {fieldsFor(proofs).map((field) => (
        <SpecifiedField key={field.name} state={state} field={field} />
      ))}
      <ul className="flex flex-col gap-3">
        {rows.map((row) => (
          <ProviderRow key={row.id} row={row} pending={pending} />
        ))}
      </ul>
    </form>
  );
}

function ProviderRow({ row: { id, name, connected }, pending }: { row: ProviderRow; pending: boolean }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-3">
      <span>
        <span className="font-medium">{name}</span>
        {connected && <span className="text-ok"> · connected</span>}
      </span>
      <button
        type="submit"
        name={connected ? "disconnect" : "connect"}
        value={id}
        aria-disabled={pending}
        className="button"
      >
        {connected ? "Disconnect" : "Connect"} {name}
      </button>
    </li>
  );
}
