export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  login: 3,
  unreachable: 4,
  leftOut: 5,
  interrupted: 130,
} as const;

/** The user sees one line without a stack trace. */
export class CommandError extends Error {
  override name = "CommandError";
  readonly kind: Exclude<keyof typeof exitCodes, "done">;

  constructor(kind: CommandError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}
