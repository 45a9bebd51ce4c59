import { z } from "zod";
import { optional, type Variable } from "#lib/core/variables/kinds";

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export const priceVariables = {
  PRICES_FILE: optional(z.string(), {
    text: "JSON file of own [prices](#prices) and the currency",
    unset: "list prices, in US dollars",
  }),
  PRICES_URL: optional(
    z.url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true }).refine((text) => {
      const { protocol, hostname, username, password } = new URL(text);
      return (protocol === "https:" || loopback.test(hostname)) && username === "" && password === "";
    }, "must be https (http only on loopback), without a user name and a password"),
    {
      text: "fetches newer list [prices](#prices) daily (genai-prices' format)",
      unset: "nothing is fetched",
      allowed: "an https URL without credentials; http on loopback",
    },
  ),
} satisfies Record<string, Variable>;
