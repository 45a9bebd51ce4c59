const loopback = /^(127(\.\d{1,3}){3}|::1)$/;

/**
 * Whether a login was started on the network of the browser that approves it. An unknown address counts as different: the
 * code then has to be typed, which is the safe side.
 */
export function isSameNetwork(one: string, other: string): boolean {
  if (one === "unknown" || other === "unknown") return false;
  return one === other || (loopback.test(one) && loopback.test(other));
}
