//! Signing in with OpenID Connect: with a real provider, and with one that lies.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fileshed_test_servers::{OIDC_PROVIDER, TestServer};
use fileshed_test_support::jwt::{now, with};
use fileshed_test_support::standin::{Answer as Answered, Asked, StandIn};
use fileshed_test_support::{Answer, Setup, TestApp};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::browser::Browser;

const FLOW_COOKIE: &str = "fileshed-oidc";
const CLIENT_SECRET: &str = "hidden-client-secret";

/// Values by their names in the query of an address.
fn query(address: &str) -> BTreeMap<String, String> {
    let (_, query) = address.split_once('?').unwrap_or_default();
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

fn setup(issuer: &str) -> Setup {
    TestApp::with()
        .env("FILESHED_OIDC_ISSUER", issuer)
        .env("FILESHED_OIDC_CLIENT_ID", "fileshed client")
        .env("FILESHED_OIDC_CLIENT_SECRET", CLIENT_SECRET)
}

/// An attempt to sign in: the address to which the browser is redirected, and the cookie of the attempt.
struct Attempt {
    address: String,
    cookie: String,
}

impl Attempt {
    fn begin(server: &TestApp) -> Self {
        let answer = server.client().get("/page/oidc");
        assert_eq!(answer.status, 303, "{}", answer.text);
        let set = answer.header("set-cookie");
        assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Lax"), "{set}");
        assert_eq!(answer.header("cache-control"), "no-store");
        Self {
            address: answer.header("location").to_owned(),
            cookie: set.split(';').next().unwrap().to_owned(),
        }
    }

    /// The browser comes back with this query.
    fn finish(&self, browser: &Browser<'_>, query: &str) -> Answer {
        let path = format!("/page/oidc/callback?{query}");
        let client = browser.any().header("Cookie", &self.cookie);
        let answer = client.header("Sec-Fetch-Site", "cross-site").get(&path);
        let set: Vec<&str> = answer
            .headers
            .get_all("set-cookie")
            .iter()
            .map(|value| value.to_str().unwrap())
            .collect();
        let cleared = format!("{FLOW_COOKIE}=; Max-Age=0");
        assert!(set.iter().any(|set| set.starts_with(&cleared)), "{set:?}");
        browser.keep(answer)
    }
}

/// A provider in the place of a real one, which says what a test wants.
struct Provider {
    standin: StandIn,
    lies: Arc<Mutex<Lies>>,
}

/// Values that replace those of its answers; null removes a claim.
#[derive(Clone, Default)]
struct Lies {
    nonce: String,
    challenge: String,
    claims: Value,
    header: Value,
    user_info: Value,
    issuer: Option<String>,
    forged: bool,
}

fn key() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap()
}

fn sign(key: &EcdsaKeyPair, header: &Value, claims: &Value) -> String {
    let text = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let text = text.join(".");
    let signature = key.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}

impl Provider {
    fn start() -> Self {
        let lies = Arc::new(Mutex::new(Lies::default()));
        let said = Arc::clone(&lies);
        let (key, other) = (key(), key());
        let standin = StandIn::answering(move |asked: &Asked| {
            let lies = said.lock().unwrap().clone();
            let own = format!("http://{}", asked.header("host"));
            match asked.path.as_str() {
                "/.well-known/openid-configuration" => Answered::json(&json!({
                    "issuer": lies.issuer.unwrap_or_else(|| own.clone()),
                    "authorization_endpoint": format!("{own}/authorize?tenant=1"),
                    "token_endpoint": format!("{own}/token"),
                    "jwks_uri": format!("{own}/keys"),
                    "userinfo_endpoint": format!("{own}/user-info"),
                })),
                "/keys" => {
                    let point = key.public_key().as_ref();
                    let part = |part: &[u8]| URL_SAFE_NO_PAD.encode(part);
                    Answered::json(&json!({"keys": [
                        {"kty": "oct", "k": "c2VjcmV0", "kid": "symmetric"},
                        {"kty": "EC", "crv": "P-256", "kid": "one", "use": "sig",
                         "x": part(&point[1..33]), "y": part(&point[33..])},
                    ]}))
                }
                "/token" => {
                    let form: BTreeMap<String, String> =
                        form_urlencoded::parse(&asked.body).into_owned().collect();
                    let digest = Sha256::digest(&form["code_verifier"]);
                    let is_right = form["code"] == "the code"
                        && asked.header("authorization")
                            == "Basic ZmlsZXNoZWQrY2xpZW50OmhpZGRlbi1jbGllbnQtc2VjcmV0"
                        && URL_SAFE_NO_PAD.encode(digest) == lies.challenge;
                    if !is_right {
                        return Answered::status(400, &json!({"error": "invalid_grant"}));
                    }
                    let claims = json!({
                        "iss": own, "aud": "fileshed client", "sub": "ada", "nonce": lies.nonce,
                        "iat": now(), "exp": now() + 60, "name": "Ada",
                    });
                    let header = json!({"alg": "ES256", "kid": "one"});
                    let signer = if lies.forged { &other } else { &key };
                    let merged = |one: Value, other: &Value| match other {
                        Value::Null => one,
                        other => with(one, other),
                    };
                    let claims = merged(claims, &lies.claims);
                    Answered::json(&json!({
                        "id_token": sign(signer, &merged(header, &lies.header), &claims),
                        "access_token": "for user-info", "token_type": "Bearer",
                    }))
                }
                "/user-info" if asked.bearer() == "for user-info" => {
                    Answered::json(&lies.user_info)
                }
                _ => Answered::refused(),
            }
        });
        Self { standin, lies }
    }

    /// Signs a user in with these lies.
    fn sign_in(&self, browser: &Browser<'_>, server: &TestApp, lies: Lies) -> Answer {
        let attempt = Attempt::begin(server);
        let asked = query(&attempt.address);
        *self.lies.lock().unwrap() = Lies {
            nonce: asked["nonce"].clone(),
            challenge: asked["code_challenge"].clone(),
            ..lies
        };
        let state = &asked["state"];
        attempt.finish(browser, &format!("code=the+code&state={state}"))
    }
}

#[test]
fn the_provider_is_asked_as_the_standard_says() {
    let provider = Provider::start();
    let server = setup(&provider.standin.url()).app();
    let attempt = Attempt::begin(&server);
    let (endpoint, _) = attempt.address.split_once('?').unwrap();
    assert_eq!(endpoint, format!("{}/authorize", provider.standin.url()));
    let asked = query(&attempt.address);
    let callback = server.url("/page/oidc/callback");
    for (name, value) in [
        ("tenant", "1"),
        ("response_type", "code"),
        ("client_id", "fileshed client"),
        ("redirect_uri", &*callback),
        ("scope", "openid profile email"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(asked[name], value);
    }
    assert!(!attempt.address.contains(CLIENT_SECRET));

    let browser = Browser::at(&server);
    assert_eq!(browser.state()["ways"], json!(["oidc", "link", "token"]));
    let answer = provider.sign_in(&browser, &server, Lies::default());
    assert_eq!((answer.status, answer.header("location")), (303, "../../"));
    assert_eq!(browser.name().as_deref(), Some("Ada"));
    browser.page().call("shed_stats", &json!({})).data();
    // A caller without a session is refused: there is no shared workspace here.
    server
        .call("shed_stats", &json!({}))
        .refused(401, "UNAUTHORIZED");
}

#[test]
fn what_is_not_signed_for_this_server_and_this_attempt_signs_nobody_in() {
    let provider = Provider::start();
    let server = setup(&provider.standin.url()).app();
    let browser = Browser::at(&server);
    for (lies, status) in [
        (json!({"iss": "https://evil.example"}), 403),
        (json!({"aud": "another client"}), 403),
        (json!({"aud": ["another client"]}), 403),
        (json!({"aud": ["fileshed client", "another"]}), 403),
        (json!({"azp": "another client"}), 403),
        (json!({"nonce": "replayed"}), 403),
        (json!({"nonce": null}), 403),
        (json!({"exp": now() - 60}), 403),
        (json!({"exp": null}), 403),
        (json!({"iat": null}), 403),
        (json!({"iat": now() + 3600}), 403),
        (json!({"sub": ""}), 403),
        (json!({"sub": null}), 403),
        (json!({"sub": "null"}), 401),
        (json!({"sub": " ada"}), 401),
    ] {
        let lies = Lies {
            claims: lies,
            ..Lies::default()
        };
        let answer = provider.sign_in(&browser, &server, lies.clone());
        assert_eq!(answer.status, status, "{}: {}", lies.claims, answer.text);
        assert_eq!(browser.secret(), "", "{}", lies.claims);
    }
    for header in [
        json!({"alg": "none"}),
        json!({"alg": "HS256", "kid": "symmetric"}),
        json!({"alg": "RS256"}),
        json!({"kid": "unknown"}),
        json!({"crit": ["x"]}),
    ] {
        let lies = Lies {
            header,
            ..Lies::default()
        };
        assert_eq!(provider.sign_in(&browser, &server, lies).status, 403);
    }
    let forged = Lies {
        forged: true,
        ..Lies::default()
    };
    assert_eq!(provider.sign_in(&browser, &server, forged).status, 403);
    assert_eq!(browser.name(), None);
    let several = Lies {
        claims: json!({"aud": ["fileshed client", "another"], "azp": "fileshed client"}),
        header: json!({"kid": null}),
        ..Lies::default()
    };
    assert_eq!(provider.sign_in(&browser, &server, several).status, 303);
}

#[test]
fn an_answer_counts_in_the_browser_that_asked_alone() {
    let provider = Provider::start();
    let server = setup(&provider.standin.url()).app();
    let (mine, theirs) = (Attempt::begin(&server), Attempt::begin(&server));
    let browser = Browser::at(&server);
    let (own, foreign) = (
        &query(&mine.address)["state"],
        &query(&theirs.address)["state"],
    );
    for query in [
        format!("code=the+code&state={foreign}"),
        format!("code=the+code&state={own}&state={own}"),
        "code=the+code".to_owned(),
        "code=the+code&state=".to_owned(),
        format!("error=access_denied&error_description=%3Cscript%3E&state={own}"),
        format!("code=guessed&state={own}"),
        String::new(),
    ] {
        let answer = mine.finish(&browser, &query);
        assert_eq!(answer.status, 403, "{query}: {}", answer.text);
        assert!(!answer.text.contains("<script>"), "{}", answer.text);
    }
    let answer = server
        .client()
        .get(&format!("/page/oidc/callback?code=the+code&state={own}"));
    assert_eq!(answer.status, 403, "without the cookie of the attempt");
    assert_eq!(browser.secret(), "");
}

#[test]
fn a_claim_that_the_settings_name_makes_an_administrator() {
    let provider = Provider::start();
    let server = setup(&provider.standin.url())
        .env("FILESHED_OIDC_ADMIN_CLAIM", "realm_access.roles")
        .env("FILESHED_OIDC_ADMIN_VALUE", "keeper")
        .app();
    let roles = |roles: &[&str]| json!({"realm_access": {"roles": roles}});
    let said = |roles: Value| with(json!({"sub": "ada"}), &roles);
    for (claims, user_info, role) in [
        (roles(&["staff", "keeper"]), Value::Null, "admin"),
        (roles(&["staff", "Keeper"]), Value::Null, "user"),
        (Value::Null, said(roles(&["keeper"])), "admin"),
        (Value::Null, said(roles(&["staff"])), "user"),
        // Signed claims take precedence over the user info, and a user without the claim is no
        // administrator.
        (roles(&["staff"]), said(roles(&["keeper"])), "user"),
        (Value::Null, Value::Null, "user"),
        (
            Value::Null,
            with(said(roles(&["keeper"])), &json!({"sub": "bob"})),
            "user",
        ),
    ] {
        let browser = Browser::at(&server);
        let lies = Lies {
            claims,
            user_info,
            ..Lies::default()
        };
        let answer = provider.sign_in(&browser, &server, lies);
        assert_eq!(answer.status, 303, "{}", answer.text);
        assert_eq!(browser.state()["role"], role);
        let asked = browser.page().get("/admin/api/tenants");
        assert_eq!(asked.status == 200, role == "admin", "{}", asked.text);
        assert_eq!(browser.state()["role_lapsed"], false);
    }
}

#[test]
fn the_role_of_an_administrator_is_asked_again_after_minutes() {
    let provider = Provider::start();
    let server = setup(&provider.standin.url())
        .env("FILESHED_OIDC_ADMIN_CLAIM", "role")
        .app();
    let browser = Browser::at(&server);
    let said = |role: &str| Lies {
        // The clock of the server goes on meanwhile.
        claims: json!({"role": role, "exp": now() + 3600}),
        ..Lies::default()
    };
    provider.sign_in(&browser, &server, said("admin"));
    server.advance(14 * 60);
    assert_eq!(browser.page().get("/admin/api/tenants").status, 200);
    server.advance(60);
    let asked = browser.page().get("/admin/api/tenants");
    asked.refused(403, "ACCESS_DENIED");
    let state = browser.state();
    assert_eq!(
        (&state["signed_in"], &state["role"], &state["role_lapsed"]),
        (&json!(true), &json!("user"), &json!(true))
    );
    // The provider decides anew.
    provider.sign_in(&browser, &server, said("admin"));
    assert_eq!(browser.page().get("/admin/api/tenants").status, 200);
    provider.sign_in(&browser, &server, said("staff"));
    assert_eq!(browser.page().get("/admin/api/tenants").status, 403);
    assert_eq!(browser.state()["role_lapsed"], false);
}

#[test]
fn an_address_counts_if_its_own_source_says_true() {
    let provider = Provider::start();
    let server = setup(&provider.standin.url())
        .env("FILESHED_OIDC_USER_CLAIM", "email")
        .app();
    let (address, vouched) = (
        json!({"email": "ada_example"}),
        json!({"sub": "ada", "email_verified": true}),
    );
    let whole = with(vouched.clone(), &address);
    let signed_in = |claims: Value, user_info: Value| {
        let browser = Browser::at(&server);
        let lies = Lies {
            claims,
            user_info,
            ..Lies::default()
        };
        provider.sign_in(&browser, &server, lies).status
    };
    for verified in [
        json!(false),
        json!("false"),
        json!("true"),
        json!(0),
        json!(1),
        json!([true]),
        Value::Null,
    ] {
        let said = with(whole.clone(), &json!({"email_verified": verified}));
        assert_eq!(signed_in(said.clone(), Value::Null), 403, "{said}");
        assert_eq!(signed_in(Value::Null, said.clone()), 403, "{said}");
    }
    // The word of one source says nothing of the address of the other.
    assert_eq!(signed_in(address.clone(), whole.clone()), 403);
    assert_eq!(
        signed_in(vouched, with(json!({"sub": "ada"}), &address)),
        403
    );
    assert_eq!(signed_in(whole.clone(), Value::Null), 303);
    assert_eq!(signed_in(Value::Null, whole), 303);
}

#[test]
fn the_user_is_the_claim_that_the_settings_name() {
    let provider = Provider::start();
    let server = setup(&provider.standin.url())
        .env("FILESHED_OIDC_USER_CLAIM", "email")
        .env("FILESHED_NAMESPACE", "plain")
        .app();
    let browser = Browser::at(&server);
    let signed_in = |claims: Value, user_info: Value| {
        let lies = Lies {
            claims,
            user_info,
            ..Lies::default()
        };
        provider.sign_in(&browser, &server, lies).status
    };
    let known = json!({"sub": "ada", "email": "ada_example", "email_verified": true});
    assert_eq!(
        signed_in(Value::Null, known.clone()),
        303,
        "userinfo says it"
    );
    let note = json!({"zone": "storage", "path": "a.md", "content": "x"});
    browser.page().call("shed_create_file", &note).data();
    let file = server.data().join("users/ada_example/Storage/data/a.md");
    assert!(file.exists());
    browser.sign_out(&json!({})).data();
    for (claims, user_info, status) in [
        (
            Value::Null,
            with(known.clone(), &json!({"sub": "eve"})),
            403,
        ),
        (Value::Null, json!({"sub": "ada"}), 401),
        (Value::Null, with(known.clone(), &json!({"email": 7})), 401),
        (
            Value::Null,
            with(known, &json!({"email_verified": false})),
            403,
        ),
    ] {
        assert_eq!(signed_in(claims, user_info), status);
        assert_eq!(browser.secret(), "");
    }
}

#[test]
fn a_provider_that_is_another_or_away_is_told() {
    let provider = Provider::start();
    let server = setup(&provider.standin.url()).app();
    provider.lies.lock().unwrap().issuer = Some("https://evil.example".to_owned());
    let answer = server.client().get("/page/oidc");
    assert_eq!(
        (answer.status, answer.header("set-cookie")),
        (503, ""),
        "{}",
        answer.text
    );
    provider.lies.lock().unwrap().issuer = None;
    Attempt::begin(&server);

    let server = TestApp::with_key();
    assert_eq!(server.client().get("/page/oidc").status, 404);
}

#[test]
fn people_of_a_real_provider_sign_in() {
    let user = json!({"sub": "ada", "email": "ada@example.org", "name": "Ada L"}).to_string();
    let claims = ["--user-claims", &user];
    let Some(package) = TestServer::start(&OIDC_PROVIDER, &claims) else {
        return;
    };
    // This one does not decode what RFC 6749 encodes in a header.
    let server = setup(&format!("http://{}", package.address()))
        .env("FILESHED_OIDC_CLIENT_ID", "fileshed")
        .start();
    let browser = Browser::at(&server);
    let attempt = Attempt::begin(&server);
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .max_redirects(0)
        .http_status_as_error(false)
        .build()
        .into();
    let answer = agent
        .post(&attempt.address)
        .send_form([("sub", "ada")])
        .unwrap();
    assert_eq!(answer.status(), 302);
    let back = answer.headers()["location"].to_str().unwrap();
    assert!(
        back.starts_with(&server.url("/page/oidc/callback?")),
        "{back}"
    );
    let code = self::query(back)["code"].clone();
    let (_, query) = back.split_once('?').unwrap();
    let answer = attempt.finish(&browser, query);
    assert_eq!(answer.status, 303, "{}\n{}", answer.text, server.log());
    assert_eq!(browser.name().as_deref(), Some("Ada L"));
    browser.page().call("shed_stats", &json!({})).data();

    // The code was used.
    let other = Browser::at(&server);
    assert_eq!(attempt.finish(&other, query).status, 403);
    let denied = agent
        .post(&attempt.address)
        .send_form([("action", "deny")])
        .unwrap();
    let back = denied.headers()["location"].to_str().unwrap();
    let (_, query) = back.split_once('?').unwrap();
    assert_eq!(attempt.finish(&other, query).status, 403);
    let log = server.log();
    for hidden in [
        CLIENT_SECRET,
        &code,
        attempt.cookie.split_once('=').unwrap().1,
        &browser.secret(),
        "eyJ",
    ] {
        assert!(!log.contains(hidden), "{log}");
    }
}
