/** Decimals as integers of 10^-12, so that money is never a float. */
const digits = 12;

export const one = 10n ** BigInt(digits);

/**
 * Drops digits after the twelfth.
 * @throws RangeError for a number that is not finite
 */
export function decimal(value: number): bigint {
  const parts = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (!parts) throw new RangeError(`${value} is no amount`);
  const [, whole = "0", fraction = "", exponent = "0"] = parts;
  const shift = digits - fraction.length + Number(exponent);
  const all = BigInt(whole + fraction);
  return shift >= 0 ? all * 10n ** BigInt(shift) : all / 10n ** BigInt(-shift);
}

export const times = (a: bigint, b: bigint): bigint => (a * b) / one;

/** Rounds halves up. */
export const rounded = (value: bigint): bigint => (value + one / 2n) / one;
