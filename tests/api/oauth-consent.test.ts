import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { post, provideOwnedServer } from "../support/server.ts";
import { sessionCookie } from "./client.ts";

const { server } = await provideOwnedServer();
const redirectUri = "http://127.0.0.1/callback";
const metadata = { client_name: "Test agent", redirect_uris: [redirectUri, "https://agent.example/callback"] };
const { client_id: clientId } = await (await post(server, "/api/oauth/register", metadata)).json();
const challenge = createHash("sha256").update("verifier").digest("base64url");

describe("the consent page", () => {
  const asking = (change: Record<string, string> = {}) =>
    new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: challenge,
      code_challenge_method: "S256",
      ...change,
    });
  const open = async (query: URLSearchParams | string) =>
    fetch(`${server.url}/oauth/authorize?${query}`, {
      headers: { Cookie: await sessionCookie(server) },
      redirect: "manual",
    });

  test("asks to sign in first, and returns; it is in no frame", async () => {
    const query = asking({ state: "a b&c" });
    const response = await fetch(`${server.url}/oauth/authorize?${query}`, { redirect: "manual" });
    expect(response.headers.get("location")).toBe(`/sign-in?next=${encodeURIComponent(`/oauth/authorize?${query}`)}`);
    const page = await open(query);
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(await page.text()).toContain("Test agent");
  });

  test("sends nobody to an address that its client did not register, and takes no answer that it did not make", async () => {
    for (const query of [
      asking({ redirect_uri: "https://evil.example/callback" }),
      asking({ redirect_uri: "https://agent.example/callback/more" }),
      asking({ client_id: "x.y" }),
      "to=https%3A%2F%2Fevil.example%2F%3Fcode%3D1&ticket=x",
    ]) {
      const html = await (await open(query)).text();
      expect(html).toContain("Unknown agent");
      expect(html).not.toMatch(/http-equiv="refresh"|href="https:\/\/(evil|agent)\.example/i);
    }
    // Of this machine any port is the same address (RFC 8252, section 7.3).
    expect(await (await open(asking({ redirect_uri: "http://127.0.0.1:4711/callback" }))).text()).toContain("Approve");
  });

  test.each([
    ["code_challenge_method", "plain", "invalid_request"],
    ["code_challenge", "short", "invalid_request"],
    ["response_type", "token", "unsupported_response_type"],
    ["scope", "admin", "invalid_scope"],
    ["resource", "https://evil.example/mcp", "invalid_target"],
    ["state", "s".repeat(1025), "invalid_request"],
  ])("offers no approval where %s is %s, and says why", async (name, value, error) => {
    const html = await (await open(asking({ [name]: value }))).text();
    expect(html).toContain(`error=${error}`);
    if (name === "state") expect(html).toContain(`state=${value}`); // a client takes no other for its own
    expect(html).not.toContain("Approve");
  });
});
