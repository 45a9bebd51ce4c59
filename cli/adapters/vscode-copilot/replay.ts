import { type Fields, parseJson } from "../../files/json.ts";
import { asFields } from "../values.ts";

/** `kind` 0 begins the session, 1 sets, 2 appends or cuts, 3 deletes. */
type LogOperation = { kind: number; path: (string | number)[]; value: unknown; cutAt: number | undefined };

const isKey = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number";

function readOperation(line: Fields): LogOperation | undefined {
  const { kind, k: path = [], v: value, i } = line;
  if (typeof kind !== "number" || !Array.isArray(path) || !path.every(isKey)) return undefined;
  return { kind, path, value, cutAt: typeof i === "number" ? i : undefined };
}

const getRequestIndex = ({ path }: LogOperation): number | undefined =>
  path[0] === "requests" && typeof path[1] === "number" ? path[1] : undefined;

const changesList = ({ kind, path }: LogOperation): boolean =>
  kind === 2 && path.length === 1 && path[0] === "requests";

/** A request can be sent and dropped after its last change, so that a log of any size is read in bounded memory. */
export class LogPlan {
  readonly #last: number[] = [];
  #count = 0;
  begin = 0;

  addRequest(line: number): void {
    if (line !== this.begin) this.#begin(line);
    this.#last[this.#count++] = line;
  }

  #begin(line: number): void {
    this.begin = line;
    this.#count = 0;
  }

  add(line: Fields, number: number): void {
    const operation = readOperation(line);
    if (!operation) return;
    if (operation.kind === 0 && this.begin !== number) this.#begin(number);
    const request = getRequestIndex(operation);
    if (request !== undefined) this.#touch(request, number);
    if (!changesList(operation)) return;
    const from = operation.cutAt ?? this.#count;
    for (let at = from; at < this.#count; at++) this.#touch(at, number);
    const more = Array.isArray(operation.value) ? operation.value.length : 0;
    for (let at = from; at < from + more; at++) this.#touch(at, number);
    this.#count = from + more;
  }

  #touch(request: number, line: number): void {
    this.#last[request] = line;
  }

  isLast(request: number, line: number): boolean {
    return (this.#last[request] ?? 0) <= line;
  }
}

export class Replay {
  readonly #plan: LogPlan;
  readonly #send: (request: unknown) => void;
  #requests: unknown[] = [];
  #sent = 0;
  fields: Fields = {};

  constructor(plan: LogPlan, send: (request: unknown) => void) {
    this.#plan = plan;
    this.#send = send;
  }

  addRequest(json: string, line: number): void {
    if (line < this.#plan.begin) return;
    this.#requests.push(parseJson(json));
    this.#release(line);
  }

  add(line: Fields, number: number): boolean {
    const operation = readOperation(line);
    if (!operation) return false;
    if (number < this.#plan.begin) return true;
    this.#apply(operation);
    this.#release(number);
    return true;
  }

  #apply(operation: LogOperation): void {
    const { kind, path, value, cutAt } = operation;
    if (kind === 0) {
      const { requests: _separate, ...fields } = asFields(value);
      this.fields = fields;
      return;
    }
    if (changesList(operation)) {
      if (cutAt !== undefined) this.#requests.length = Math.min(this.#requests.length, cutAt);
      if (Array.isArray(value)) for (const one of value) this.#requests.push(one);
      return;
    }
    if (path.length === 1 && path[0] === "requests") {
      this.#requests = Array.isArray(value) ? value : [];
      return;
    }
    const [first, ...rest] = path;
    if (first === "requests") applyChange(this.#requests, rest, kind, value, cutAt);
    else applyChange(this.fields, path, kind, value, cutAt);
  }

  #release(line: number): void {
    while (this.#sent < this.#requests.length && this.#plan.isLast(this.#sent, line)) {
      this.#send(this.#requests[this.#sent]);
      this.#requests[this.#sent++] = undefined;
    }
  }

  end(): void {
    for (; this.#sent < this.#requests.length; this.#sent++) this.#send(this.#requests[this.#sent]);
  }
}

type Container = Record<string | number, unknown>;

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

function applyChange(root: unknown, path: (string | number)[], kind: number, value: unknown, cutAt?: number): void {
  let target: unknown = root;
  for (const key of path.slice(0, -1))
    target = isContainer(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  const key = path.at(-1);
  if (!isContainer(target) || key === undefined || key === "__proto__") return;
  if (kind === 1) target[key] = value;
  else if (kind === 3) delete target[key];
  else if (kind === 2) {
    const before = Array.isArray(target[key]) ? (target[key] as unknown[]) : [];
    target[key] = [...before.slice(0, cutAt ?? before.length), ...(Array.isArray(value) ? value : [])];
  }
}
