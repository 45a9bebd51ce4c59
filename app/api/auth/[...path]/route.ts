import { z } from "zod";
import { endpoint, route } from "#lib/api/route";
import { callAuth } from "#lib/api/service";
import { answerAuth } from "#lib/auth/http";

const { path, auth } = callAuth;
const params = z.object({ path: z.array(z.string()) });
const answer = endpoint({ path, auth, params }, ({ request, params }) => answerAuth(request, params.path.join("/")));

// A GET of a provider's callback signs in, so HEAD must not call it.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({ GET: answer, POST: answer }, { head: false });
