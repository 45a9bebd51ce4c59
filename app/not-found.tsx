import type { Metadata } from "next";
import { Missing } from "./components/missing";
import { PlainPage } from "./components/plain-page";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <PlainPage title="There is nothing here">
      <Missing />
    </PlainPage>
  );
}
