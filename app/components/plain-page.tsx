import { Mark } from "./mark";

export function PlainPage({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <main id="main" tabIndex={-1} className="column outline-none">
      <a href="/" className="target flex w-fit items-center gap-2 font-semibold">
        <Mark /> Spoor
      </a>
      <h1 className="font-semibold text-title">{title}</h1>
      {children}
    </main>
  );
}
