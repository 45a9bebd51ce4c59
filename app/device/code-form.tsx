import { Field } from "../components/field";
import { PlainPage } from "../components/plain-page";
import { StartAgain } from "./outcome";

/** Asks for the code that a terminal shows. Looking at a login changes nothing, so this is a GET. */
export function CodeForm({ unknown }: { unknown?: string }) {
  return (
    <PlainPage title="Connect a machine">
      <form method="get" action="/device" className="flex flex-col gap-4">
        <Field
          name="code"
          label="Code"
          required
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          placeholder="XXXX-XXXX"
          defaultValue={unknown}
          hint="The eight letters that your terminal shows. Case, spaces and dashes do not matter."
          error={unknown === undefined ? undefined : "There is no login with this code."}
          className="font-mono"
        />
        <button type="submit" className="button button-accent">
          Continue
        </button>
      </form>
      {unknown !== undefined && <StartAgain />}
    </PlainPage>
  );
}
