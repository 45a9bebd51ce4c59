import { Command } from "../../../components/command";

export function RecoveryCodes({ codes }: { codes: string[] }) {
  return (
    <section aria-labelledby="recovery-codes" className="flex flex-col gap-2">
      <h2 id="recovery-codes" className="font-semibold text-prose">
        Recovery codes
      </h2>
      <p className="text-muted">
        Keep them somewhere safe, not only on your phone. Each signs you in once, and they can't be shown again.
      </p>
      <Command text={codes.join("\n")} />
    </section>
  );
}
