import { currentUser } from "#lib/auth/guards";
import { Bar } from "./bar";
import { readKeys, readTheme } from "./preferences";

/** A bar at the top; on a phone, tabs at the bottom and a menu. */
export async function NavBar() {
  const [user, keys, theme] = await Promise.all([currentUser(), readKeys(), readTheme()]);
  return <Bar user={user && { name: user.name, email: user.email }} keys={keys} theme={theme} />;
}
