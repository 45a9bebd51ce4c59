/** The npm package sets it to its own name, which commands then begin with. */
export const commandVariable = "SPOOR_COMMAND";

/** Formats a command as the operator types it: `npm run move -- --upgrade` in a checkout, `spoor-server move --upgrade` otherwise. */
export function operatorCommand(name: string, words = ""): string {
  const installed = process.env[commandVariable];
  if (installed) return [installed, name, words].filter(Boolean).join(" ");
  return ["npm run", name, words && `-- ${words}`].filter(Boolean).join(" ");
}
