import type { Metadata, Viewport } from "next";
import { readTheme } from "./components/preferences";
import { TimeZone } from "./components/time-zone";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Spoor", template: "%s · Spoor" },
  icons: { icon: "/icon.svg" },
  robots: { index: false, follow: false },
};

/** What is behind a page until its stylesheet is there has its colours already. */
export async function generateViewport(): Promise<Viewport> {
  const theme = await readTheme();
  return { colorScheme: theme === "system" ? "light dark" : theme };
}

/** Reads the theme's cookie, so every page is rendered on request, as the nonce of its scripts demands. */
export default async function Layout({ children }: { children: React.ReactNode }) {
  const theme = await readTheme();
  return (
    <html lang="en" data-theme={theme === "system" ? undefined : theme}>
      <head>
        {/* Under the header's no-referrer alone, a form posted without script bears `Origin: null`, which
            requireSameOrigin rightly refuses. With this, other sites still learn nothing of where a reader comes from. */}
        <meta name="referrer" content="same-origin" />
      </head>
      <body>
        <a
          href="#main"
          className="sr-only rounded-control bg-overlay px-3 py-2 focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-20"
        >
          Skip to the content
        </a>
        {children}
        <TimeZone />
      </body>
    </html>
  );
}
