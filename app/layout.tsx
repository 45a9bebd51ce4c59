import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import { requestIdHeader } from "#lib/http/headers";
import { PageRequestProvider } from "./components/page-request";
import { readTheme } from "./components/shell/preferences";
import { TimeZone } from "./components/shell/time-zone";
import { fontVariables } from "./fonts/fonts";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Spoor", template: "%s · Spoor" },
  icons: { icon: "/icon.svg" },
  robots: { index: false, follow: false },
};

export async function generateViewport(): Promise<Viewport> {
  const theme = await readTheme();
  return { colorScheme: theme === "system" ? "light dark" : theme };
}

/** Reading a cookie makes every page dynamic: its scripts need the response's own nonce. */
export default async function Layout({ children }: { children: React.ReactNode }) {
  const theme = await readTheme();
  const requestId = (await headers()).get(requestIdHeader) ?? undefined;
  return (
    <html lang="en" data-theme={theme === "system" ? undefined : theme} className={fontVariables}>
      <head>
        {/* With `no-referrer`, forms without JavaScript send `Origin: null`, which requireSameOrigin refuses. */}
        <meta name="referrer" content="same-origin" />
      </head>
      <body>
        <a href="#main" className="skip">
          Skip to the content
        </a>
        <PageRequestProvider id={requestId}>{children}</PageRequestProvider>
        <TimeZone />
      </body>
    </html>
  );
}
