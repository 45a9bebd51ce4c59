/** The variable by which the npm package tells the processes it starts that commands begin with its own name. */
export const commandVariable = "SPOOR_COMMAND";

/**
 * A command as the operator types it here: `npm run move -- --upgrade` in a checkout, `spoor-server move --upgrade` where the
 * package is installed. The launcher calls it too, and has no room for the parser in `lib/env.ts`.
 */
export function operatorCommand(name: string, words = ""): string {
  const installed = process.env[commandVariable];
  if (installed) return [installed, name, words].filter(Boolean).join(" ");
  return ["npm run", name, words && `-- ${words}`].filter(Boolean).join(" ");
}
