const loopback = /^(127(\.\d{1,3}){3}|::1)$/;

/**
 * Whether a login was started where its approval is asked for. Addresses that the host does not tell count as
 * different: the code is then typed once more, which is the safe mistake.
 */
export function isSameNetwork(one: string, other: string): boolean {
  if (one === "unknown" || other === "unknown") return false;
  return one === other || (loopback.test(one) && loopback.test(other));
}
