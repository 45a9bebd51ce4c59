import { endpoint } from "#lib/api/route";
import { notFound } from "#lib/core/errors";

const missing = endpoint({ auth: "none" }, () => {
  throw notFound();
});

export {
  missing as DELETE,
  missing as GET,
  missing as HEAD,
  missing as OPTIONS,
  missing as PATCH,
  missing as POST,
  missing as PUT,
};
