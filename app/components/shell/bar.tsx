"use client";
import { usePathname } from "next/navigation";
import { signOutAction } from "../../(app)/actions";
import { Choice, themeNames } from "../forms/choice";
import { Mark } from "../mark";
import { Sign } from "../sign";
import { Keys, KeysButton } from "./keys";
import { pages, searchHref } from "./pages";
import { PaletteButton } from "./palette/palette-button";

const icons: Record<(typeof pages)[number]["href"], string> = {
  "/home": "i-lucide-house",
  "/traces": "i-lucide-scroll-text",
  "/projects": "i-lucide-folder",
  "/uploads": "i-lucide-cloud-upload",
  "/usage": "i-lucide-chart-column",
  "/devices": "i-lucide-laptop",
  "/diagnostics": "i-lucide-activity",
};
/** The tabs of a phone. */
const tabs: string[] = ["/home", "/traces", "/usage"];
const more: string[] = ["/uploads", "/devices", "/diagnostics"];

type Props = {
  user: { name: string; email: string } | undefined;
  keys: "on" | "off";
  theme: keyof typeof themeNames;
};

/** As a server component it would be sent twice: 7 KB of each page. */
export function Bar({ user, keys, theme }: Props) {
  return (
    <header className="bar print:hidden">
      <div className="wide">
        <a href="/home" className="mr-1 flex items-center gap-2 font-semibold max-md:hidden">
          <Mark /> Spoor
        </a>
        <nav aria-label="Pages">
          {pages.map(({ href, name }) => (
            <NavLink
              key={href}
              href={href}
              className={`tab ${tabs.includes(href) ? "" : more.includes(href) ? "max-lg:hidden" : "max-md:hidden"}`}
            >
              <span className={`${icons[href]} size-5 md:max-xl:hidden xl:size-4`} />
              {name}
            </NavLink>
          ))}
        </nav>
        <span className="ml-auto max-md:hidden">
          <PaletteButton className="button button-quiet gap-2 px-2 needs-script" hasHint />
        </span>
        <a href={searchHref} aria-keyshortcuts={keys === "on" ? "/" : undefined} className="tab search">
          <span className="i-lucide-search size-5 md:size-4" />
          <span className="md:max-lg:sr-only">Search</span>
          {keys === "on" && (
            <span aria-hidden="true" className="key max-lg:hidden pointer-coarse:hidden">
              /
            </span>
          )}
        </a>
        {user && <AppMenu {...user} keys={keys} theme={theme} />}
      </div>
      {keys === "on" && <Keys />}
    </header>
  );
}

type MenuProps = Omit<Props, "user"> & NonNullable<Props["user"]>;

function AppMenu({ name, email, keys, theme }: MenuProps) {
  return (
    <details className="app-menu" data-menu>
      <summary className="tab">
        <span className="i-lucide-menu size-5 md:hidden" />
        <span className="md:hidden">Menu</span>
        <span className="min-w-0 max-w-40 truncate max-md:hidden">
          <span className="sr-only">Account: </span>
          {name}
        </span>
        <span className="flex max-md:hidden">
          <Sign name="down" />
        </span>
      </summary>
      <div className="sheet">
        <nav aria-label="Pages in the menu" className="flex flex-col lg:hidden">
          {pages.map(({ href, name: text }) => (
            <NavLink key={href} href={href} className={`sheet-link ${more.includes(href) ? "" : "md:hidden"}`}>
              <span className={`${icons[href]} size-4`} /> {text}
            </NavLink>
          ))}
          <PaletteButton className="sheet-link md:hidden needs-script" />
        </nav>
        <div className="max-lg:border-hairline max-lg:border-t max-lg:pt-4">
          <p className="truncate font-medium">{name}</p>
          <p className="break-all text-meta text-muted">{email}</p>
        </div>
        <p className="flex gap-4">
          <a href="/settings" className="link target">
            Settings
          </a>
          <a href="/docs" className="link target">
            API reference
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

type NavLinkProps = { href: string; className: string; children: React.ReactNode };

function NavLink({ href, className, children }: NavLinkProps) {
  const path = usePathname();
  const isWithin = path.startsWith(`${href}/`) || (href === "/uploads" && path === "/upload");
  const current = path === href ? "page" : isWithin ? "true" : undefined;
  return (
    <a
      href={href}
      aria-current={current}
      onClick={({ currentTarget }) => currentTarget.closest("details")?.removeAttribute("open")}
      className={`nav-link ${className}`}
    >
      {children}
    </a>
  );
}
