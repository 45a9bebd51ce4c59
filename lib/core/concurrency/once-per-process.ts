const key = Symbol.for("spoor.process");
const globals = globalThis as typeof globalThis & { [key]?: Map<string, unknown> };

/** Returns the process's only value of a name: Next bundles a module into several routes, and each copy has its own variables. */
export function oncePerProcess<T>(name: string, make: () => T): T {
  globals[key] ??= new Map();
  const values = globals[key];
  if (!values.has(name)) values.set(name, make());
  return values.get(name) as T;
}
