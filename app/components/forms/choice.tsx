import { setPreferencesAction } from "../../(app)/actions";

type Props<Value extends string> = { name: string; label: string; values: Record<Value, string>; chosen: Value };

export function Choice<Value extends string>({ name, label, values, chosen }: Props<Value>) {
  return (
    <form action={setPreferencesAction} className="flex flex-col gap-1">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be a grid in every browser */}
      <div role="group" aria-label={label} className="flex gap-1">
        {Object.entries<string>(values).map(([value, text]) => (
          <button
            key={value}
            type="submit"
            name={name}
            value={value}
            aria-pressed={value === chosen}
            className="button button-choice"
          >
            {text}
          </button>
        ))}
      </div>
    </form>
  );
}

export const themeNames = { system: "System", light: "Light", dark: "Dark" } as const;
