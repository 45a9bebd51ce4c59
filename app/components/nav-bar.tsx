import { currentUser } from "#lib/auth/guards";
import { Bar } from "./bar";
import { readKeys, readTheme } from "./preferences";

/**
 * The navigation bar of every signed-in page. On a phone it is at the bottom, in reach of a thumb: a few pages as tabs, and the
 * menu, a sheet with all of them.
 */
export async function NavBar() {
  const [user, keys, theme] = await Promise.all([currentUser(), readKeys(), readTheme()]);
  return <Bar user={user && { name: user.name, email: user.email }} keys={keys} theme={theme} />;
}
