/** How the program ends, for scripts. docs/client.md has the table. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  login: 3,
  unreachable: 4,
  leftOut: 5,
  interrupted: 130,
} as const;

/** An end that is told in a line, without a stack. */
export class CommandError extends Error {
  override name = "Failure";
  readonly kind: Exclude<keyof typeof exitCodes, "done">;

  constructor(kind: CommandError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}
