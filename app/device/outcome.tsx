import { env } from "#lib/env";
import { Command } from "../components/command";
import { fetchCommand, loginCommand } from "../components/connect-commands";
import { PlainPage } from "../components/plain-page";

const outcomes = {
  approved: { title: "Approved", text: "Return to your terminal: it logs in by itself." },
  denied: {
    title: "Denied",
    text: "The machine was not let in. If you did not start this login, there is nothing else to do.",
  },
  late: { title: "Nothing was changed", text: "This login was already decided or expired." },
  strange: {
    title: "Nothing was changed",
    text: "This form was not made for the session that you are in now. Open the link again.",
  },
} as const;

/** Says what came of a decision. Anybody can open this address, so it is wording and nothing else. */
export function Done({ done }: { done: string }) {
  const key = done === "approved" || done === "denied" || done === "strange" ? done : "late";
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
        <StartAnew />
      )}
    </PlainPage>
  );
}

export function StartAnew() {
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">To log a machine in, start anew in its terminal:</p>
      <Command text={`${fetchCommand(env().BASE_URL)} && ${loginCommand}`} />
    </div>
  );
}
