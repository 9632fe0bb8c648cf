// A provider of OpenID Connect with one client, which anybody is at home in: who signs in has the name
// that they type. Prints what each token was asked for with.
//
// provider.mjs <directory of modules> <port> <client id> <address that people are sent back to>

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, port, client, callback] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { default: Provider } = await import(pathToFileURL(require.resolve("oidc-provider")).href);

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{
    client_id: client, redirect_uris: [callback], token_endpoint_auth_method: "none", grant_types: ["authorization_code"],
    response_types: ["code"],
  }],
  pkce: { required: () => true },
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: `${id} of the provider`, email: `${id}@example.org`, email_verified: true }),
  }),
});
provider.on("grant.success", ({ oidc }) => {
  const { code_verifier: verifier } = oidc.params;
  const { codeChallenge: challenge, codeChallengeMethod: method } = oidc.entities.AuthorizationCode;
  console.log(`granted ${JSON.stringify({ verifier: verifier?.length, method, isOther: verifier !== challenge })}`);
});
provider.listen(Number(port), "127.0.0.1", () => console.log("the provider listens"));
