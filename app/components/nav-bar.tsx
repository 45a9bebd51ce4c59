import { Menu, Search } from "lucide-react";
import { currentUser } from "#lib/auth/guards";
import { signOutAction } from "../(app)/actions";
import { Choice, themeNames } from "./choice";
import { Here } from "./here";
import { Keys, KeysButton } from "./keys";
import { Mark } from "./mark";
import { NavLink } from "./nav-link";
import { pages, searchHref } from "./pages";
import { readKeys, readTheme } from "./preferences";
import { Sign } from "./sign";

/** The navigation bar of every signed-in page. On a phone its links are in the menu's sheet. */
export async function NavBar() {
  const [user, keys] = await Promise.all([currentUser(), readKeys()]);
  return (
    <header className="sticky top-0 z-10 border-hairline border-b bg-page print:hidden">
      <div className="wide flex h-12 items-center gap-1 sm:gap-3">
        <a href="/home" className="mr-1 flex items-center gap-2 font-semibold max-sm:hidden">
          <Mark /> Spoor
        </a>
        <nav aria-label="Pages" className="flex h-full max-sm:hidden">
          <PageLinks />
        </nav>
        <a
          href={searchHref}
          aria-keyshortcuts={keys === "on" ? "/" : undefined}
          className="button button-quiet ml-auto gap-2 px-2 max-sm:order-last max-sm:-mr-2"
        >
          <Search aria-hidden="true" className="size-4" />
          <span className="max-md:sr-only">Search</span>
          {keys === "on" && (
            <span aria-hidden="true" className="key max-md:hidden pointer-coarse:hidden">
              /
            </span>
          )}
        </a>
        {user && <AppMenu name={user.name} email={user.email} keys={keys} />}
      </div>
      {keys === "on" && <Keys />}
    </header>
  );
}

const PageLinks = () =>
  pages.map(({ href, name }) => (
    <NavLink key={href} href={href}>
      {name}
    </NavLink>
  ));

type MenuProps = { name: string; email: string; keys: "on" | "off" };

/** The account menu; on a phone a sheet over the page that also has the bar's links. */
async function AppMenu({ name, email, keys }: MenuProps) {
  const theme = await readTheme();
  return (
    <details className="min-w-0 max-sm:order-first max-sm:-ml-2 sm:relative" data-menu>
      <summary className="button button-quiet list-none gap-2 px-2 font-normal">
        <Menu aria-hidden="true" className="size-5 sm:hidden" />
        <span className="font-semibold sm:hidden">
          <span className="sr-only">Menu: </span>
          <Here />
        </span>
        <span className="min-w-0 max-w-40 truncate max-sm:hidden">
          <span className="sr-only">Account: </span>
          {name}
        </span>
        <span className="flex max-sm:hidden">
          <Sign name="down" />
        </span>
      </summary>
      <div className="absolute z-20 flex flex-col gap-4 border-hairline bg-overlay p-4 shadow-lg max-sm:inset-x-0 max-sm:top-12 max-sm:max-h-[calc(100dvh-3rem)] max-sm:overflow-y-auto max-sm:border-b sm:right-0 sm:mt-1 sm:w-64 sm:rounded-block sm:border">
        <nav aria-label="Pages in the menu" className="flex flex-col sm:hidden">
          <PageLinks />
        </nav>
        <div className="max-sm:border-hairline max-sm:border-t max-sm:pt-4">
          <p className="truncate font-medium">{name}</p>
          <p className="break-all text-meta text-muted">{email}</p>
        </div>
        <p className="flex gap-4">
          <a href="/settings" className="link">
            Settings
          </a>
          <a href="/docs" className="link">
            API
          </a>
          {keys === "on" && <KeysButton />}
        </p>
        <Choice name="theme" label="Theme" values={themeNames} chosen={theme} />
        <form action={signOutAction}>
          <button type="submit" className="button w-full">
            Sign out
          </button>
        </form>
      </div>
    </details>
  );
}
