import { currentUser } from "#lib/auth/session";
import { setThemeAction, signOutAction } from "../(app)/actions";
import { Mark } from "./mark";
import { NavLink } from "./nav-link";
import { Sign } from "./sign";
import { readTheme, themes } from "./theme";

const themeNames = { system: "System", light: "Light", dark: "Dark" } as const;

/** The one bar over every page of a signed-in person. */
export async function NavBar() {
  const user = await currentUser();
  return (
    <header className="sticky top-0 z-10 border-hairline border-b bg-page">
      <div className="wide flex h-12 items-center gap-1 sm:gap-3">
        <a href="/traces" className="mr-1 flex items-center gap-2 font-semibold">
          <Mark />
          <span className="max-sm:sr-only">Spoor</span>
        </a>
        <nav aria-label="Pages" className="flex h-full">
          <NavLink href="/traces">Traces</NavLink>
          <NavLink href="/uploads">Uploads</NavLink>
          <NavLink href="/devices">Devices</NavLink>
        </nav>
        {user && <AccountMenu name={user.name} email={user.email} />}
      </div>
    </header>
  );
}

async function AccountMenu({ name, email }: { name: string; email: string }) {
  const theme = await readTheme();
  return (
    <details className="relative ml-auto min-w-0" name="account">
      <summary className="flex h-8 list-none items-center gap-1 rounded-control px-2 hover:bg-block pointer-coarse:h-11">
        <span className="sr-only">Account: </span>
        <span className="min-w-0 max-w-28 truncate">{name}</span>
        <Sign name="down" />
      </summary>
      <div className="absolute right-0 flex w-64 flex-col gap-3 rounded-block border border-hairline bg-overlay p-3 shadow-lg">
        <div>
          <p className="truncate font-medium">{name}</p>
          <p className="break-all text-meta text-muted">{email}</p>
        </div>
        <a href="/settings" className="link w-fit">
          Settings
        </a>
        <form action={setThemeAction} className="flex flex-col gap-1">
          <p className="text-meta text-muted" id="theme">
            Theme
          </p>
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in every browser */}
          <div role="group" aria-labelledby="theme" className="grid grid-cols-3 gap-1">
            {themes.map((choice) => (
              <button
                key={choice}
                type="submit"
                name="theme"
                value={choice}
                aria-pressed={choice === theme}
                className="button px-1 font-normal aria-pressed:border-accent aria-pressed:bg-tint aria-pressed:font-medium"
              >
                {themeNames[choice]}
              </button>
            ))}
          </div>
        </form>
        <form action={signOutAction}>
          <button type="submit" className="button w-full">
            Sign out
          </button>
        </form>
      </div>
    </details>
  );
}
