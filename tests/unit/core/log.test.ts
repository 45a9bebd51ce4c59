import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { describeError, log } from "#lib/core/log";
import { Prisma } from "#lib/generated/prisma/client";
import { logConsole } from "#lib/observability/console";

const secret = "canary@example.org";

/** An error as `pg` makes it of what PostgreSQL answered. */
const databaseError = (message: string, fields: object) =>
  Object.assign(new pg.DatabaseError(message, message.length, "error"), fields);

function notJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}

describe("an error in the log", () => {
  test("of PostgreSQL has its code and names, and nothing that quotes a row", () => {
    const error = databaseError('duplicate key value violates unique constraint "user_email_key"', {
      code: "23505",
      detail: `Key (email)=(${secret}) already exists.`,
      where: `COPY message, line 1, column content: "${secret}"`,
      hint: secret,
      internalQuery: `select '${secret}'`,
      schema: "public",
      table: "user",
      constraint: "user_email_key",
    });
    const logged = describeError(error);
    expect(logged).toMatchObject({
      type: "error",
      message: 'duplicate key value violates unique constraint "user_email_key"',
      stack: expect.arrayContaining([expect.stringMatching(/^at .*log\.test/)]),
      code: "23505",
      table: "user",
      constraint: "user_email_key",
    });
    expect(JSON.stringify(logged)).not.toContain(secret);
  });

  test.each([
    ["a data exception", databaseError(`invalid input syntax for type uuid: "${secret}"`, { code: "22P02" })],
    ["one that has quotation marks", databaseError(`invalid syntax: "a" ${secret} "b"`, { code: "22P02" })],
    ["one that is not closed", databaseError(`invalid input syntax for type json: "${secret}`, { code: "22P02" })],
    [
      "a failed raw query of Prisma's",
      new Prisma.PrismaClientKnownRequestError(
        `\nInvalid \`prisma.$queryRaw()\` invocation:\n\n\nRaw query failed. Code: \`22P02\`. Message: \`invalid: "${secret}"\``,
        { code: "P2010", clientVersion: "7", meta: { driverAdapterError: { cause: { originalMessage: secret } } } },
      ),
    ],
    [
      "a call that Prisma refuses",
      new Prisma.PrismaClientValidationError(
        `\nInvalid \`prisma.user.create()\` invocation:\n\n{\n  data: { email: "${secret}" }\n}\n\nArgument \`name\` is missing.`,
        { clientVersion: "7" },
      ),
    ],
    ["its cause", new Error("a job failed", { cause: databaseError("x", { code: "23505", detail: secret }) })],
    ["one of several", new AggregateError([databaseError("x", { code: "23505", detail: secret })], "several failed")],
    ["an error that carries what it was about", Object.assign(new Error("refused"), { body: { email: secret } })],
    ["a text that is no JSON", notJson(`{"a": ${secret}`)],
    ["a text that is no JSON at all", notJson(`${secret}"`)],
    ["no error at all", secret],
  ])("has no value of %s", (_what, error) => {
    const text = JSON.stringify(describeError(error));
    expect(text).not.toContain(secret);
    expect(text).not.toContain("canary");
  });

  test("has the name and message of its causes, a few deep", () => {
    const error = new Error("first", { cause: new TypeError("second", { cause: new Error("third") }) });
    expect(describeError(error)).toMatchObject({
      message: "first",
      cause: { type: "TypeError", message: "second", cause: { message: "third" } },
    });
    const circular = new Error("round");
    circular.cause = circular;
    expect(() => JSON.stringify(describeError(circular))).not.toThrow();
  });
});

test("what is written to the console is a line of the log, without what stands in quotation marks or in objects", () => {
  const { console: replaced } = globalThis;
  const before = { ...replaced };
  const listeners = process.listeners("warning");
  onTestFinished(() => {
    Object.assign(replaced, before);
    process.removeAllListeners("warning");
    for (const listener of listeners) process.on("warning", listener);
  });
  const lines = vi.spyOn(log, "error").mockReturnValue();
  onTestFinished(() => lines.mockRestore());
  logConsole();
  replaced.error('Failed to parse "canary"', { secret }, 7, new TypeError("no such part"));
  replaced.error(` ${"x".repeat(600)}`);
  expect(lines.mock.calls).toEqual([
    [expect.objectContaining({ error: "TypeError" }), 'Failed to parse "…" 7 no such part'],
    [expect.anything(), "x".repeat(499)],
  ]);
});
