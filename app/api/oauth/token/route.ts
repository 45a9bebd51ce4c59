import { endpoint, route } from "#lib/api/route";
import { readOrigin } from "#lib/auth/audit";
import { exchangeGrant } from "#lib/auth/oauth/api";
import { exchangeCode, type IssuedTokens, refreshGrant } from "#lib/auth/oauth/grants";
import { answerOauth, getField, noStore, type OauthForm, readForm, readFormClient } from "#lib/auth/oauth/http";
import { agentScope, OauthError } from "#lib/auth/oauth/protocol";
import { requireResource, requireScope } from "#lib/auth/oauth/request";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(exchangeGrant, ({ request, address }) =>
    answerOauth("token", address, async () => {
      const given = await exchange(await readForm(request), readOrigin(request.headers));
      const { accessToken, refreshToken, seconds } = given;
      const answer = { access_token: accessToken, token_type: "Bearer", expires_in: seconds };
      return Response.json({ ...answer, refresh_token: refreshToken, scope: agentScope }, { headers: noStore });
    }),
  ),
});

async function exchange(form: OauthForm, from: ReturnType<typeof readOrigin>): Promise<IssuedTokens> {
  const kind = getField(form, "grant_type");
  const client = readFormClient(form);
  requireResource(form.get("resource"));
  if (kind === "authorization_code") {
    const about = { client, redirectUri: form.get("redirect_uri"), verifier: getField(form, "code_verifier") };
    return exchangeCode(getField(form, "code"), about, from);
  }
  if (kind !== "refresh_token")
    throw new OauthError("unsupported_grant_type", "grant_type is authorization_code or refresh_token.");
  requireScope(form.get("scope"));
  return refreshGrant(getField(form, "refresh_token"), client, from);
}
