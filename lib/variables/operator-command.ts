/** The npm package sets it, so that printed commands begin with its own name. */
export const commandVariable = "SPOOR_COMMAND";

/**
 * Returns a command as the operator types it: `npm run move -- --upgrade`, or `spoor-server move --upgrade` of the
 * installed package. The launcher calls it without loading the parser in `lib/env.ts`.
 */
export function operatorCommand(name: string, words = ""): string {
  const installed = process.env[commandVariable];
  if (installed) return [installed, name, words].filter(Boolean).join(" ");
  return ["npm run", name, words && `-- ${words}`].filter(Boolean).join(" ");
}
