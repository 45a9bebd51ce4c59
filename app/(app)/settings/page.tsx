import type { Metadata } from "next";
import { requireUser, type SignedInUser } from "#lib/auth/guards";
import { configuredProviders, type Provider, providerNames } from "#lib/auth/sign-in/providers";
import { env } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { Choice, themeNames } from "../../components/forms/choice";
import { Form } from "../../components/forms/form";
import { Section } from "../../components/section";
import { readerZone, readKeys, readTheme } from "../../components/shell/preferences";
import { StorageUse } from "../../components/storage";
import { formatQuantity } from "../../components/values/figures";
import { changePasswordAction, renameAction } from "./actions";
import { ExactCopies } from "./exact-copies";
import { listProofs, waysIn } from "./proof";
import { proofFields } from "./proof-fields";
import { ProvidersForm } from "./providers-form";

export const metadata: Metadata = { title: "Settings" };

const changeTexts: Record<string, string> = {
  password: "Your password was changed, and your other browsers were signed out.",
  "password-and-machines": "Your password was changed. Your other browsers and all machines were signed out.",
};

export default async function Page({ searchParams }: PageProps<"/settings">) {
  const user = await requireUser("/settings");
  const { error, changed } = await searchParams;
  const connected = await waysIn();
  return (
    <>
      <h1 className="font-semibold text-title">Account</h1>
      <div className="flex max-w-[25rem] flex-col gap-10">
        <Section id="account" title="You">
          <p className="break-all text-muted">{user.email}</p>
          <Form
            action={renameAction}
            fields={[{ name: "name", label: "Name", autoComplete: "name", maxLength: 100, value: user.name }]}
            submit="Save name"
          />
        </Section>
        <Section id="password" title="Password">
          {typeof changed === "string" && changed in changeTexts && (
            <p role="status" className="text-ok">
              {changeTexts[changed]}
            </p>
          )}
          {connected.includes("credential") ? <ChangePassword user={user} /> : <NoPassword />}
        </Section>
        <Appearance />
        <YourData userId={user.id} />
        <ExactCopies userId={user.id} />
        <Providers connected={connected} failed={error !== undefined} changed={changed === "provider"} />
      </div>
    </>
  );
}

async function Providers({ connected, failed, changed }: { connected: string[]; failed: boolean; changed: boolean }) {
  const providers = Object.keys(configuredProviders()) as Provider[];
  if (providers.length === 0) return null;
  const proofs = await listProofs(await requireUser("/settings"));
  return (
    <Section id="providers" title="Other ways to sign in">
      {failed && (
        <p role="alert" className="text-bad">
          Not connected. The provider refused, or that identity belongs to another account here.
        </p>
      )}
      {changed && (
        <p role="status" className="text-ok">
          The provider was disconnected.
        </p>
      )}
      <p className="text-muted">
        Whoever can sign in there can sign in here without the password. Two-factor authentication still asks for its
        code.
        {proofs.includes("recent") && " To change this, sign in again first."}
      </p>
      <ProvidersForm
        rows={providers.map((id) => ({ id, name: providerNames[id], connected: connected.includes(id) }))}
        proofs={proofs}
      />
    </Section>
  );
}

async function Appearance() {
  return (
    <>
      <Section id="appearance" title="Appearance">
        <Choice name="theme" label="Theme" values={themeNames} chosen={await readTheme()} />
        <p className="text-muted">Times are shown in this browser's time zone, {await readerZone()}.</p>
      </Section>
      <Section id="keys" title="Keyboard shortcuts">
        <p className="text-muted">
          Single keys, such as <kbd>/</kbd> to search; <kbd>?</kbd> lists them all.
        </p>
        <Choice name="keys" label="Keyboard shortcuts" values={{ on: "On", off: "Off" }} chosen={await readKeys()} />
      </Section>
    </>
  );
}

function YourData({ userId }: { userId: string }) {
  const days = env().UPLOAD_RETENTION_DAYS;
  const { failedUploadDays } = limits.ingest;
  return (
    <Section id="data" title="Your data">
      <StorageUse userId={userId} />
      <p className="text-muted">
        Sessions are kept until you delete them. The uploads they came in are deleted {formatQuantity(days, "day")}{" "}
        after they were processed, failed ones after {formatQuantity(failedUploadDays, "day")}.
      </p>
      <p className="flex flex-wrap gap-x-4 gap-y-1">
        <a href="/api/traces/export" download="sessions.jsonl" className="link target">
          Export all sessions
        </a>
        <a href="/api/traces/export?masked=all" download="sessions-for-others.jsonl" className="link target">
          Export all (secrets masked)
        </a>
        <a href="/settings/delete" className="link target">
          Delete account
        </a>
      </p>
    </Section>
  );
}

function ChangePassword({ user: { name, email, twoFactorEnabled } }: { user: SignedInUser }) {
  return (
    <Form
      action={changePasswordAction}
      fields={[
        { name: "current_password", label: "Current password", type: "password", autoComplete: "current-password" },
        {
          name: "new_password",
          label: "New password",
          about: [name, email],
          hint: "Signs out your other browsers.",
        },
        ...(twoFactorEnabled ? [{ ...proofFields.code, name: "current_code" }] : []),
        { name: "revoke_tokens", label: "Also revoke the tokens of all my machines", type: "checkbox", optional: true },
      ]}
      submit="Change password"
    />
  );
}

function NoPassword() {
  return (
    <p className="text-muted">
      This account has no password: you sign in with a provider connected below. The person who runs the server can give
      it one.
    </p>
  );
}
