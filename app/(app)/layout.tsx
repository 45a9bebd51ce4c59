import { NavBar } from "../components/nav-bar";
import { Navigation } from "../components/navigation";
import { Shapes } from "../components/shapes";

export default function Layout({ children }: { children: React.ReactNode }) {
  return (
    <>
      <NavBar />
      <Navigation />
      <main id="main" tabIndex={-1} className="wide grow py-6 outline-none">
        {children}
      </main>
      <Shapes />
    </>
  );
}
