import type { Metadata } from "next";
import { Mark } from "../components/mark";
import { Words, writeGroups } from "./entry";
import { introduction, readReference } from "./reference";
import { ReferenceHtml } from "./reference-html";
import { handOverReference } from "./written";

export const metadata: Metadata = { title: "API" };

/** Public: it shows no stored data. */
export default function Page() {
  const groups = readReference();
  handOverReference(writeGroups());
  return (
    <main
      id="main"
      tabIndex={-1}
      className="wide grid gap-x-12 gap-y-8 py-6 outline-none md:grid-cols-[14rem_minmax(0,1fr)]"
    >
      <div className="flex flex-col gap-6 md:sticky md:top-6 md:max-h-[calc(100dvh-3rem)] md:self-start md:overflow-y-auto">
        <a href="/" className="target flex w-fit items-center gap-2 font-semibold">
          <Mark /> Spoor
        </a>
        <nav
          aria-label="Routes"
          className="flex flex-col gap-4 max-md:max-h-56 max-md:overflow-y-auto max-md:rounded-block max-md:border max-md:border-hairline max-md:p-3"
        >
          {groups.map(({ name, entries }) => (
            <div key={name} className="flex flex-col gap-1">
              <p className="font-medium">{name}</p>
              <ul className="flex flex-col gap-1 text-muted">
                {entries.map(({ id, summary }) => (
                  <li key={id}>
                    <a href={`#${id}`} className="quiet-link">
                      {summary}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
      </div>
      <div className="flex min-w-0 flex-col gap-12">
        <header className="introduction flex max-w-[44rem] flex-col gap-3">
          <h1 className="font-semibold text-title">The API</h1>
          {introduction().map((paragraph) => (
            <p key={paragraph} className="text-prose">
              <Words text={paragraph} />
            </p>
          ))}
          <p className="text-prose">
            The same for programs:{" "}
            <a href="/api/openapi.json" className="link">
              /api/openapi.json
            </a>{" "}
            (OpenAPI 3.1).
          </p>
        </header>
        <ReferenceHtml />
      </div>
    </main>
  );
}
