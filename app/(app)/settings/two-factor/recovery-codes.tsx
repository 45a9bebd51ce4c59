import { Command } from "../../../components/command";

/** The codes that replace an authenticator app, each once. */
export function RecoveryCodes({ codes }: { codes: string[] }) {
  return (
    <section aria-labelledby="recovery-codes" className="flex flex-col gap-2">
      <h2 id="recovery-codes" className="font-semibold text-prose">
        Recovery codes
      </h2>
      <p className="text-muted">
        Keep them where you would find them without your phone. Each signs you in once, and they cannot be shown again.
      </p>
      <Command text={codes.join("\n")} />
    </section>
  );
}
