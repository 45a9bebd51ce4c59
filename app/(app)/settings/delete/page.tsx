import type { Metadata } from "next";
import { requireUser } from "#lib/auth/guards";
import { type FieldSpec, Form } from "../../../components/forms/form";
import { listProofs } from "../proof";
import { fieldsFor } from "../proof-fields";
import { deleteAccountAction } from "./actions";

export const metadata: Metadata = { title: "Delete account" };

const address: FieldSpec = {
  name: "email",
  label: "Email",
  type: "email",
  autoComplete: "off",
  hint: "Type your address.",
};

export default async function Page() {
  const user = await requireUser("/settings/delete");
  const proofs = await listProofs(user);
  return (
    <div className="flex max-w-[60ch] flex-col gap-4">
      <h1 className="font-semibold text-title">Delete account</h1>
      <p>
        This deletes <strong className="break-all font-semibold">{user.email}</strong> and, immediately and permanently:
      </p>
      <ul className="list-disc pl-5">
        <li>every session and upload</li>
        <li>every machine's token and every sign-in</li>
        <li>the telemetry of your machines</li>
        <li>your invitations and the audit trail</li>
      </ul>
      <p>
        This can't be undone. Your machines keep their own files.
        {user.role === "owner" && " You are the owner of this server: the oldest other account becomes the owner."}
      </p>
      <div className="max-w-[25rem] rounded-block border border-bad p-4">
        <Form
          action={deleteAccountAction}
          fields={[...(proofs.includes("password") ? [] : [address]), ...fieldsFor(proofs)]}
          submit="Delete account"
          tone="bad"
        />
      </div>
    </div>
  );
}
