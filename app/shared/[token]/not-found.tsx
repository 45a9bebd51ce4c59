import type { Metadata } from "next";
import { PlainPage } from "../../components/plain-page";

export const metadata: Metadata = { title: "Not found", robots: { index: false, follow: false } };

/** For somebody without an account; whether the link was ever good is not told. */
export default function NotFound() {
  return (
    <PlainPage title="There is nothing here">
      <p className="text-muted">
        A link to a session opens until its owner revokes it, it expires, or the session is deleted. Check that it was
        copied whole, else ask whoever gave it to you for a new one.
      </p>
    </PlainPage>
  );
}
