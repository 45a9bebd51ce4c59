import type { Metadata } from "next";
import { Missing } from "../components/missing";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <div className="column px-0">
      <h1 className="font-semibold text-title">There is nothing here</h1>
      <Missing />
    </div>
  );
}
