import { env } from "#lib/core/env";
import { Command } from "../components/command";
import { fetchCommand, loginCommand } from "../components/command-text";
import { PlainPage } from "../components/plain-page";

const outcomes = {
  approved: { title: "Approved", text: "Return to your terminal. It continues automatically." },
  denied: {
    title: "Denied",
    text: "The machine got no access. If you did not start this login, you are done.",
  },
  late: { title: "Nothing changed", text: "This login was already approved or denied, or it has expired." },
  foreign: {
    title: "Nothing changed",
    text: "This form belongs to another sign-in. Open the link again.",
  },
  limited: {
    title: "Too many codes",
    text: "You tried many codes in a short time. Wait ten minutes, then open the link of your login again.",
  },
} as const;

const isOutcome = (text: string): text is keyof typeof outcomes => Object.hasOwn(outcomes, text);

/** Anybody can open this address, so its texts are fixed. */
export function Done({ done }: { done: string }) {
  const key = isOutcome(done) ? done : "late";
  const { title, text } = outcomes[key];
  return (
    <PlainPage title={title}>
      <p>{text}</p>
      {key === "approved" ? (
        <p>
          <a href="/traces" className="link">
            Go to your sessions
          </a>
        </p>
      ) : (
        <StartAgain />
      )}
    </PlainPage>
  );
}

export function StartAgain() {
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">To log a machine in, start again in its terminal:</p>
      <Command text={`${fetchCommand(env().BASE_URL)} && ${loginCommand}`} />
    </div>
  );
}
