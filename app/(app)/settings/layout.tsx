import { currentUser } from "#lib/auth/guards";
import { proxyNote } from "#lib/http/address";
import { Notice } from "../../components/notice";
import { SettingsLink } from "./settings-link";

export default async function Layout({ children }: { children: React.ReactNode }) {
  const owner = (await currentUser())?.role === "owner";
  const note = owner ? proxyNote() : undefined;
  return (
    <div className="grid gap-x-12 gap-y-6 md:grid-cols-[11rem_1fr]">
      <nav
        aria-label="Settings"
        className="flex gap-x-4 gap-y-1 overflow-x-auto whitespace-nowrap [scrollbar-width:none] md:flex-col"
      >
        <SettingsLink href="/settings">Account</SettingsLink>
        <SettingsLink href="/settings/two-factor">Two-factor</SettingsLink>
        <SettingsLink href="/settings/sign-ins">Signed-in browsers</SettingsLink>
        <SettingsLink href="/settings/shares">Shared sessions</SettingsLink>
        <SettingsLink href="/findings">Secrets</SettingsLink>
        {owner && <SettingsLink href="/settings/invitations">Invitations</SettingsLink>}
        <SettingsLink href="/settings/trail">Audit trail</SettingsLink>
        <SettingsLink href="/settings/delete">Delete account</SettingsLink>
      </nav>
      <div className="flex min-w-0 flex-col gap-10">
        {note && (
          <Notice tone="warn">
            <p>{note}</p>
          </Notice>
        )}
        {children}
      </div>
    </div>
  );
}
