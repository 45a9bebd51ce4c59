import type { Metadata } from "next";
import { PlainPage } from "../../components/plain-page";

export const metadata: Metadata = { title: "Not found", robots: { index: false, follow: false } };

/** Does not say whether the link ever worked. */
export default function NotFound() {
  return (
    <PlainPage title="There is nothing here">
      <p className="text-muted">
        A link to a session works until its owner revokes it, it expires, or the session is deleted. Check that you
        copied all of it, or ask whoever gave it to you for a new one.
      </p>
    </PlainPage>
  );
}
