/** Decimals as whole numbers of 10^-12, so that no sum of money is ever a float. */
const digits = 12;

/** One, as such a number. */
export const one = 10n ** BigInt(digits);

/** A decimal of JSON, exactly as it is written; digits beyond the twelfth are dropped. @throws RangeError for no finite number */
export function decimal(value: number): bigint {
  const parts = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (!parts) throw new RangeError(`${value} is no amount`);
  const [, whole = "0", fraction = "", exponent = "0"] = parts;
  const shift = digits - fraction.length + Number(exponent);
  const all = BigInt(whole + fraction);
  return shift >= 0 ? all * 10n ** BigInt(shift) : all / 10n ** BigInt(-shift);
}

/** The product of two such numbers. */
export const times = (a: bigint, b: bigint): bigint => (a * b) / one;

/** A number of 10^-12 as a whole one, halves up. */
export const rounded = (value: bigint): bigint => (value + one / 2n) / one;
