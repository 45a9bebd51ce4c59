import type { Metadata } from "next";
import { PlainPage } from "./components/plain-page";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <PlainPage title="There is nothing here">
      <p className="text-muted">
        The address may be mistyped, the session deleted, or it belongs to another account than the one you are signed
        in with.
      </p>
      <p>
        <a href="/traces" className="link">
          Go to your sessions
        </a>
      </p>
    </PlainPage>
  );
}
