import { auth } from "#lib/auth/auth";

// better-auth's own contracts; HEAD is answered by Next from GET.
const handle = (request: Request) => auth().handler(request);

export { handle as GET, handle as POST };
