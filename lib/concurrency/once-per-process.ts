const key = Symbol.for("spoor.process");
const globals = globalThis as typeof globalThis & { [key]?: Map<string, unknown> };

/**
 * A value that the whole process has once: Next bundles a module into several routes, and each copy has variables of its own.
 *
 * @param name what the value is known by; one module names each.
 * @param make makes it at the first call.
 */
export function oncePerProcess<T>(name: string, make: () => T): T {
  globals[key] ??= new Map();
  const values = globals[key];
  if (!values.has(name)) values.set(name, make());
  return values.get(name) as T;
}
