import { Field } from "../components/forms/field";
import { PlainPage } from "../components/plain-page";
import { enterCode } from "./actions";
import { StartAgain } from "./outcome";

/** Posted, because only that proves that the code was typed: anybody can make a link. */
export function CodeForm({ unknown }: { unknown?: string }) {
  return (
    <PlainPage title="Connect a machine">
      <form action={enterCode} className="flex flex-col gap-4">
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
