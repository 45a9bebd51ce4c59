// The messages follow the field's name and say what to send instead; they never repeat the value.
import { z } from "zod";

type Issue = z.core.$ZodRawIssue;

const types: Record<string, string> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
  null: "null",
  date: "a date",
};

const formats: Record<string, string> = {
  email: "must be an email address, such as ada@example.org",
  url: "must be a URL, such as https://example.org",
  uuid: "must be a UUID",
  datetime: "must be a date and time with an offset or Z, such as 2026-11-20T10:00:00Z",
  date: "must be a day, such as 2026-11-20",
};

const units: Record<string, [one: string, many: string]> = {
  string: ["character", "characters"],
  array: ["entry", "entries"],
  set: ["entry", "entries"],
  map: ["entry", "entries"],
};

/** Formats a size with its unit ("3 characters"), or a number alone. */
function sized(origin: string, size: number | bigint): string {
  const unit = units[origin];
  const count = size.toLocaleString("en");
  return unit ? `${count} ${unit[Number(size) === 1 ? 0 : 1]}` : count;
}

function tooSmall({ origin, minimum, inclusive }: Extract<Issue, { code: "too_small" }>): string {
  const isSized = origin in units;
  if (isSized && Number(minimum) <= 1) return "must not be empty";
  if (isSized) return `must have at least ${sized(origin, minimum)}`;
  return `must be ${inclusive === false ? "more than" : "at least"} ${sized(origin, minimum)}`;
}

function tooBig({ origin, maximum, inclusive }: Extract<Issue, { code: "too_big" }>): string {
  if (origin in units) return `must have at most ${sized(origin, maximum)}`;
  return `must be ${inclusive === false ? "less than" : "at most"} ${sized(origin, maximum)}`;
}

function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type": {
      const wanted = types[String(issue.expected)] ?? "a value of another type";
      return issue.input === undefined ? `is missing; it must be ${wanted}` : `must be ${wanted}`;
    }
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return tooSmall(issue);
    case "too_big":
      return tooBig(issue);
    case "invalid_format":
      return formats[String(issue.format)] ?? "does not have the expected format";
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      // Only an operator's files are read this strictly; requests may have more fields.
      return `has an unknown field: ${issue.keys.slice(0, 3).join(", ")}`;
    default:
      return "is not valid";
  }
}

z.config({ localeError: describeIssue });
