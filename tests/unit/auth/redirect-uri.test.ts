import { expect, test } from "vitest";
import { isRedirectUri } from "#lib/auth/oauth/registration";

test.each([
  ...["https://agent.example/callback", "http://127.0.0.1:4711/callback", "http://localhost/", "http://[::1]:1/"],
  ...["cursor://anysphere.cursor-mcp/oauth/callback", "vscode://vscode.mcp/x", "vscode-insiders://vscode.mcp/x"],
  ...["windsurf://codeium.windsurf/x", "zed://oauth", "com.example.app:/callback", "com.example.my-app://callback"],
])("a person may be sent back to %s", (uri) => {
  expect(isRedirectUri(uri)).toBe(true);
});

test.each([
  ...["http://evil.example/callback", "http://localhost.evil.example/", "https://user:secret@agent.example/"],
  ...["https://agent.example/#fragment", "https://agent.example/\u0000", "not an address"],
  ...["https://agent.example/?code=1", "https://agent.example/?a=1&error=x", "http://127.0.0.1/?state=x"],
  ...["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "view-source:https://agent.example/"],
])("nobody is sent to %s", (uri) => {
  expect(isRedirectUri(uri)).toBe(false);
});

test.each([
  ...["search-ms:query=x", "search-ms://query", "search:/x", "ms-settings:/x", "ms-msdt:/id", "shell:/startup"],
  ...["smb://evil.example/share", "ssh://evil.example/", "sftp://evil.example/", "ldap://evil.example/", "vnc://x"],
  ...["shortcuts://run-shortcut", "facetime://x", "x-apple.systempreferences:/x", "microsoft.windows.camera:/x"],
  ...[
    "steam://run/1",
    "zoommtg://join",
    "myapp://callback",
    "cursor:opaque",
    "com.example.app:opaque",
    "a.:/x",
    ".a:/x",
  ],
])("a scheme that may mean something to a system, or that no domain stands in, is none: %s", (uri) => {
  expect(isRedirectUri(uri)).toBe(false);
});

test.each([
  ...["cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=e30=", "goose://extension?cmd=sh&arg=-c"],
  ...["vscode://vscode.git/clone?url=https://evil.example/x", "jetbrains://idea/checkout/git?checkout.repo=x"],
  ...["warp://action/new_tab?path=/", "com.example.app:/callback?do=it", "zed://oauth?"],
])("nobody is sent to an application with something to do: %s", (uri) => {
  expect(isRedirectUri(uri)).toBe(false);
});
