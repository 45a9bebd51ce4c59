import { currentUser } from "#lib/auth/guards";
import { Bar } from "../components/shell/bar";
import { Navigation, Shapes } from "../components/shell/navigation";
import { readKeys, readTheme } from "../components/shell/preferences";

export default function Layout({ children }: { children: React.ReactNode }) {
  return (
    <>
      <NavBar />
      <Navigation />
      <main id="main" tabIndex={-1} className="page grow outline-none">
        {children}
      </main>
      <Shapes />
    </>
  );
}

async function NavBar() {
  const [user, keys, theme] = await Promise.all([currentUser(), readKeys(), readTheme()]);
  return <Bar user={user && { name: user.name, email: user.email }} keys={keys} theme={theme} />;
}
