/** After a change, texts that an earlier version has searched are searched again. */
export const rulesVersion = 12;

/**
 * Certain kinds are masked, likely ones only flagged. A form begins with text, and has runs of characters as
 * `{class:min-max}` or `{class:length}` (classes: token-forms.ts). A detector finds a kind without forms.
 */
export type Kind = {
  id: string;
  name: string;
  rotate: string;
  forms: readonly string[];
  certain: boolean;
};

/** `(a,b)` makes several forms. Long prefixes are Base64 of PEM, Google accounts, Docker logins and kubeconfigs. */
const certain = `
private-key | Private key | Make a new key pair, and remove the public key from every place that trusts it. |
  AGE-SECRET-KEY-1{upper:58} AGE-SECRET-KEY-PQ-1{upper:50-120} xprv{alnum:107}
  LS0tLS1CRUdJTiB(SU0Eg,QUklW,FQyBQ,PUEVOU1NI,FTkNSWVBURUQ,EU0Eg){base64:60-12000}
github | GitHub token | github.com/settings/tokens | (ghp,gho,ghu,ghs,ghr)_{word:36-255} github_pat_{word:50-255}
  ghs_{digit:1-12}_{dotted:60-1000}
gitlab | GitLab token | gitlab.com/-/user_settings/personal_access_tokens |
  (glpat,gldt,glrt,glcbt,glptt,glft,glffct,glimt,glagent,gloas,glsoat)-{dotted:20-300} GR1348941{url:20}
bitbucket | Bitbucket token | bitbucket.org/account/settings | ATBB{alnum:28-64} ATCTT3{url:60-300}
atlassian | Atlassian token | id.atlassian.com/manage-profile/security/api-tokens | ATATT3{url:60-300}={hex:8}
  ATATT3{url:60-300}
anthropic | Anthropic key | console.anthropic.com/settings/keys | sk-ant-{alnum:3-12}-{url:32-200}
openrouter | OpenRouter key | openrouter.ai/settings/keys | sk-or-v1-{hex:64}
langfuse | Langfuse key | the project's settings in Langfuse | sk-lf-{url:32-64}
openai | OpenAI key | platform.openai.com/api-keys | sk-(proj,svcacct,admin,None)-{url:40-250} sess-{alnum:40} sk-{alnum:48}
  sk-{hex:32}
groq | Groq key | console.groq.com/keys | gsk_{alnum:40-64}
xai | xAI key | console.x.ai | xai-{alnum:60-100}
perplexity | Perplexity key | perplexity.ai/settings/api | pplx-{alnum:40-64}
huggingface | Hugging Face token | huggingface.co/settings/tokens | hf_{alnum:30-40} api_org_{alnum:34}
replicate | Replicate token | replicate.com/account/api-tokens | r8_{alnum:37-40}
tavily | Tavily key | app.tavily.com | tvly-{url:24-64}
langsmith | LangSmith key | smith.langchain.com/settings | lsv2_(pt,sk)_{word:40-64}
aws-access-key | AWS access key | console.aws.amazon.com/iam | (AKIA,ASIA,ABIA,ACCA){upper:16} ABSK{base64:109-269}
  bedrock-api-key-{base64:60-4000}
aws-session | AWS session token | console.aws.amazon.com/iam; it ends by itself within hours |
  (FwoGZXIvYXdz,FQoGZXIvYXdz,IQoJb3JpZ2lu,AQoDYXdz){base64:50-8000}
aws-secret | AWS secret key | console.aws.amazon.com/iam
google | Google key | console.cloud.google.com/apis/credentials | AIza{url:35} GOCSPX-{url:28} ya29.{dotted:30-2000}
  1//0{url:40-120} AQ.Ab{url:40-80}
  (ewogICJ0eXBlIjogInNlcnZpY2VfYWNjb3VudC,eyJ0eXBlIjoic2VydmljZV9hY2NvdW50,eyJ0eXBlIjogInNlcnZpY2VfYWNjb3VudC){base64:100-8000}
azure | Azure secret | portal.azure.com | AccountKey={base64:86}== SharedAccessKey={base64:43}=
digitalocean | DigitalOcean token | cloud.digitalocean.com/account/api/tokens | (dop,doo,dor)_v1_{hex:64}
heroku | Heroku key | dashboard.heroku.com/account | HRKU-{url:36-80}
fly | Fly.io token | fly.io/dashboard | (fm1r,fm2)_{base64:60-2000} fo1_{url:40-64}
vercel | Vercel token | vercel.com/account/settings/tokens | (vcp,vck)_{alnum:24-80} vercel_blob_rw_{word:30-80}
  v1:{alnum:24}:{alnum:24}
netlify | Netlify token | app.netlify.com/user/applications | nfp_{alnum:36-50}
cloudflare | Cloudflare token | dash.cloudflare.com/profile/api-tokens | v1.0-{hex:24}-{hex:146} (cfut,cfat,cfk)_{alnum:40-60}
supabase | Supabase token | supabase.com/dashboard/account/tokens | sbp_{hex:40} sb_secret_{url:22-60}
planetscale | PlanetScale token | app.planetscale.com | pscale_(tkn,pw,oauth)_{dotted:32-64}
neon | Neon key | console.neon.tech/app/settings/api-keys | napi_{alnum:40-80} npg_{alnum:12-40}
databricks | Databricks token | the workspace's user settings | dapi{hex:32}-{digit:1-2} (dapi,dose){hex:32}
stripe | Stripe key | dashboard.stripe.com/apikeys | (sk_live,rk_live,sk_test,rk_test,sk_org_live,sk_org_test)_{alnum:16-250}
  whsec_{base64:32-80}
square | Square token | developer.squareup.com/apps | sq0atp-{url:22} sq0csp-{url:43} EAAA{url:60}
shopify | Shopify token | the shop's app settings | (shpat,shpca,shppa,shpss,shptka,shpua)_{alnum:32-64}
paypal | Braintree token | the gateway's API keys | access_token$production\${alnum:16}\${hex:32}
slack | Slack token | api.slack.com/apps | (xoxb,xoxp,xoxa,xoxo,xoxr,xoxs,xoxe)-{url:20-600} xoxe.(xoxp,xoxb)-{url:20-250}
  xapp-{url:40-250} xoxc-{url:20-250} xoxd-{base64:40-400} xoxd-{percent:40-600}
slack-webhook | Slack webhook | api.slack.com/apps |
  (,https://)hooks.slack.com/services/T{upper:8-14}/B{upper:8-14}/{alnum:18-40}
  (,https://)hooks.slack.com/triggers/{upper:8-14}/{digit:8-16}/{hex:32}
  (,https://)hooks.slack.com/workflows/T{upper:8-14}/A{upper:8-14}/{alnum:10-40}/{alnum:18-40}
discord-webhook | Discord webhook | the channel's integrations | (,https://)discord.com/api/webhooks/{digit:17-20}/{url:60-80}
  (,https://)discord.com/api/v{digit:1-2}/webhooks/{digit:17-20}/{url:60-80}
  (,https://)discordapp.com/api/webhooks/{digit:17-20}/{url:60-80}
discord | Discord bot token | discord.com/developers/applications
telegram | Telegram bot token | @BotFather, /revoke
twilio | Twilio key | console.twilio.com | SK{hex:32}
sendgrid | SendGrid key | app.sendgrid.com/settings/api_keys | SG.{url:10-32}.{url:32-64}
mailgun | Mailgun key | app.mailgun.com/settings/api_security | (key,pubkey)-{hex:32}
mailchimp | Mailchimp key | admin.mailchimp.com/account/api
resend | Resend key | resend.com/api-keys | re_{alnum:8}_{alnum:24}
brevo | Brevo key | app.brevo.com/settings/keys/api | (xkeysib,xsmtpsib)-{hex:64}-{alnum:16}
npm | npm token | npmjs.com/settings | npm_{alnum:36} _authToken={url:30-200}
pypi | PyPI token | pypi.org/manage/account | pypi-AgE(IcHlwaS5vcmc,NdGVzdC5weXBpLm9yZ){url:40-250} pypi-{url:85-250}
rubygems | RubyGems key | rubygems.org/settings/edit | rubygems_{hex:48}
crates | crates.io token | crates.io/settings/tokens | cio{alnum:32}
nuget | NuGet key | nuget.org/account/apikeys | oy2{lower:43}
docker | Docker token | hub.docker.com/settings/security | dckr_pat_{url:27} dckr_oat_{url:27-40}
  SWMTKN-1-{lower:40-60}-{lower:20-30} (eyJhdXRocyI6,ewogICJhdXRocyI6,ewoJImF1dGhzIjog,ewogICAgImF1dGhzIjog){base64:60-12000}
linear | Linear key | linear.app/settings/account/security | lin_api_{word:32-128} lin_oauth_{hex:64}
notion | Notion token | notion.so/my-integrations | ntn_{alnum:40-60} secret_{alnum:43}
airtable | Airtable token | airtable.com/create/tokens | pat{alnum:14}.{hex:64}
figma | Figma token | figma.com/settings | figd_{url:38-200} figo_{url:38-64}
asana | Asana token | app.asana.com/0/my-apps | 1/{digit:13-18}:{hex:32} 2/{digit:13-18}/{digit:13-18}:{hex:32}
hubspot | HubSpot token | app.hubspot.com/private-apps | pat-(na1,na2,na3,eu1,ap1)-{uuid:36}
grafana | Grafana token | the instance's service accounts | glc_{base64:32-400} glsa_{alnum:32}_{hex:8} eyJrIjoi{base64:60-400}
vault | Vault token | vault token revoke | hvs.{url:24-200} hvb.{url:60-400} hvr.{url:24-200}
1password | 1Password key | the service account's settings | ops_ey{base64:100-1300}
  A3-{upper:6}-{upper:11}-{upper:5}-{upper:5}-{upper:5} A3-{upper:6}-{upper:6}-{upper:5}-{upper:5}-{upper:5}-{upper:5}
sentry | Sentry token | sentry.io/settings/auth-tokens; of a DSN the project's client keys | sntrys_{base64:80-500}
  sntrys_{base64:80-500}(,=,==)_{base64:43} sntryu_{hex:64}
newrelic | New Relic key | one.newrelic.com/api-keys | NRAK-{upper:27} NRII-{url:32} NRJS-{hex:19}
posthog | PostHog key | app.posthog.com/settings/user-api-keys | (phx,phs)_{alnum:40-60}
adafruit | Adafruit key | io.adafruit.com/api-key | aio_{alnum:28}
adyen | Adyen key | ca-live.adyen.com | AQE{base64:50-200}(,=,==)-{base64:43}=-{url:8-40}
adobe | Adobe secret | developer.adobe.com/console | p8e-{url:32}
alchemy | Alchemy key | dashboard.alchemy.com/apps | alchemy.com/v2/{url:21-40}
alibaba | Alibaba Cloud key | ram.console.aliyun.com | LTAI{alnum:16-24}
amazon-seller | Amazon seller key | developer.amazon.com/settings/console/securityprofile | amzn.mws.{uuid:36}
  amzn1.oa2-cs.v1.{hex:64}
apify | Apify token | console.apify.com/settings/integrations | apify_api_{alnum:34-36}
artifactory | Artifactory token | the instance's user profile | AKCp{alnum:60-80} cmVmdGtu{alnum:52-64}
authress | Authress key | authress.io/app | (sc,ext,scauth,authress)_{alnum:5-30}.{alnum:4-6}.acc{url:10-32}.{url:30-120}
browserbase | Browserbase key | browserbase.com/settings | bb_(live,test)_{url:27}
buildkite | Buildkite token | buildkite.com/user/api-access-tokens | bkua_{hex:40} bkct_{url:40-80}
brave | Brave key | api-dashboard.search.brave.com | BSA{url:27-31}
cerebras | Cerebras key | cloud.cerebras.ai | csk-{lower:48}
circleci | CircleCI token | app.circleci.com/settings/user/tokens | (CCIPAT,CCIPRJ)_{alnum:20-24}_{hex:40}
clickhouse | ClickHouse key | console.clickhouse.cloud | 4b1d{alnum:38}
clickup | ClickUp token | app.clickup.com/settings/apps | pk_{digit:6-10}_{upper:32}
clojars | Clojars token | clojars.org/tokens | CLOJARS_{lower:60}
confluent | Confluent secret | confluent.cloud/settings/api-keys | cflt{base64:60}
contentful | Contentful token | app.contentful.com/account/profile/cma_tokens | CFPAT-{url:43}
context7 | Context7 key | context7.com/dashboard | ctx7sk-{uuid:36}
convex | Convex key | dashboard.convex.dev | (prod,dev):{url:5-60}|{base64:40-200}
cursor | Cursor key | cursor.com/settings | (crsr,key)_{hex:64}
datadog | Datadog key | app.datadoghq.com/organization-settings | ddapp_{alnum:34} ddpat_{alnum:30-60}
defined | Defined Networking key | admin.defined.net | dnkey-{lower:26}-{lower:52}
deno | Deno token | dash.deno.com/account | (ddp,ddo)_{alnum:36}
dropbox | Dropbox token | dropbox.com/developers/apps | (sl.,sl.u.){url:100-2000}
doppler | Doppler token | dashboard.doppler.com | dp.(pt,st,sa,ct,scim,audit).{dotted:40-80}
duffel | Duffel token | app.duffel.com | duffel_(live,test)_{url:43}
dynatrace | Dynatrace token | the environment's access tokens | dt0c01.{upper:24}.{upper:64} dt0s16.{upper:8}.{upper:64}
e2b | E2B key | e2b.dev/dashboard | e2b_{hex:40}
easypost | EasyPost key | easypost.com/account/api-keys | (EZAK,EZTK){alnum:54}
elevenlabs | ElevenLabs key | elevenlabs.io/app/settings/api-keys | sk_{hex:48}
facebook | Facebook token | developers.facebook.com/apps | EAACEdEose0cBA{alnum:20-300} EAA{alnum:90-300}
firecrawl | Firecrawl key | firecrawl.dev/app/api-keys | fc-{hex:32}
fireworks | Fireworks key | fireworks.ai/account/api-keys | fw_{alnum:22-24}
flutterwave | Flutterwave key | app.flutterwave.com | (FLWSECK_TEST,FLWSECK)-{alnum:12-40}
frameio | Frame.io token | developer.frame.io | fio-u-{url:64}
gitlab-session | GitLab sign-in | gitlab.com/-/user_settings/active_sessions | _gitlab_session={hex:32}
harness | Harness token | app.harness.io | (pat,sat).{url:22}.{alnum:24}.{alnum:20}
honeycomb | Honeycomb key | ui.honeycomb.io/account | (hcaik,hcxik,hcaic,hcalk)_{lower:58}
infisical | Infisical token | app.infisical.com | st.{hex:24}.{hex:32}.{hex:32}
infracost | Infracost key | dashboard.infracost.io | ico-{alnum:32}
infura | Infura key | app.infura.io | infura.io/v3/{hex:32}
inngest | Inngest key | app.inngest.com | signkey-(prod,test)-{hex:64}
intra42 | 42 secret | profile.intra.42.fr/oauth/applications | s-s4t2(ud,af)-{hex:64}
intercom | Intercom token | app.intercom.com/a/apps/_/developer-hub | dG9rO{base64:50-80}
jina | Jina key | jina.ai/api-dashboard | jina_{url:50-70}
k3s | K3s token | k3s token rotate | K10{hex:64}::(server,node):{alnum:16-64}
kaggle | Kaggle token | kaggle.com/settings | KGAT_{hex:32}
kubeconfig | Settings of a cluster | the cluster: kubectl config view |
  YXBpVmVyc2lvbjogdjEK(a2luZDogQ29uZmln,Y2x1c3RlcnM6){base64:60-16000}
kimi | Kimi key | kimi.com/code/console | sk-kimi-{alnum:40-80}
klaviyo | Klaviyo key | klaviyo.com/settings/account/api-keys | pk_{hex:34}
launchdarkly | LaunchDarkly key | app.launchdarkly.com/settings | (sdk,api)-{uuid:36}
lark-webhook | Lark webhook | the group's bots | (open.feishu.cn,open.larksuite.com)/open-apis/bot/v2/hook/{uuid:36}
lob | Lob key | dashboard.lob.com/settings/api-keys | (live,test)_{hex:35}
mailersend | MailerSend token | app.mailersend.com/api-tokens | mlsn.{hex:64}
make-webhook | Make webhook | the scenario of the webhook | hook.(eu1,eu2,us1,us2).make.com/{lower:32}
mapbox | Mapbox token | account.mapbox.com/access-tokens | sk.eyJ{url:30-400}.{url:20-60}
mem0 | Mem0 key | app.mem0.ai/dashboard/api-keys | m0-{alnum:40}
maxmind | MaxMind key | maxmind.com/en/accounts
modal | Modal token | modal.com/settings/tokens | (ak,as)-{alnum:22}
mongodb | MongoDB Atlas secret | cloud.mongodb.com | mdb_sa_sk_{url:30-60}
mollie | Mollie key | my.mollie.com/dashboard/developers/api-keys | live_{alnum:30}
nvidia | NVIDIA key | build.nvidia.com/settings/api-keys | nvapi-{url:60-70}
octopus | Octopus Deploy key | the instance's user profile | API-{upper:26}
openshift | OpenShift token | oc delete oauthaccesstoken | sha256~{url:43}
pinecone | Pinecone key | app.pinecone.io | pcsk_{alnum:5-7}_{alnum:50-70}
plaid | Plaid token | dashboard.plaid.com | access-(production,development,sandbox)-{uuid:36}
polar | Polar token | polar.sh/settings | polar_(oat,pat)_{alnum:40-50}
postman | Postman key | go.postman.co/settings/me/api-keys | PMAK-{hex:24}-{hex:34}
prefect | Prefect key | app.prefect.cloud/my/api-keys | (pnu,pnb)_{alnum:36}
rapidapi | RapidAPI key | rapidapi.com/developer/apps
razorpay | Razorpay key | dashboard.razorpay.com/app/keys | rzp_(live,test)_{alnum:14}
pulumi | Pulumi token | app.pulumi.com/account/tokens | pul-{hex:40}
readme | ReadMe key | dash.readme.com | rdme_{lower:70}
render | Render key | dashboard.render.com/u/settings | rnd_{alnum:28-32}
rootly | Rootly key | rootly.com/account/api-keys | rootly_{hex:64}
scalingo | Scalingo token | dashboard.scalingo.com/account/tokens | tk-us-{url:48}
scale | Scale key | scale.com/settings/api-keys | live_{hex:32}
scaleway | Scaleway key | console.scaleway.com/iam/api-keys | SCW{upper:17}
segment | Segment token | app.segment.com | sgp_{alnum:64}
settlemint | SettleMint token | console.settlemint.com | sm_(pat,aat,sat)_{alnum:16}
shippo | Shippo token | apps.goshippo.com/settings/api | shippo_(live,test)_{hex:40}
snyk | Snyk token | app.snyk.io/account | snyk_(uat,sat).{hex:8}.{dotted:40-300}
sonar | Sonar token | the account's security page | (squ,sqp,sqa)_{alnum:40}
sourcegraph | Sourcegraph token | the instance's access tokens | sgp_{hex:40} sgp_{hex:16}_{hex:40} sgp_local_{hex:40}
  slk_{hex:64} sgamp_user_{upper:26}_{hex:64}
statsig | Statsig key | console.statsig.com | secret-{alnum:40-50}
teams-webhook | Teams webhook | the channel's connectors |
  webhook.office.com/webhookb2/{uuid:36}@{uuid:36}/IncomingWebhook/{hex:32}/{uuid:36}
tailscale | Tailscale key | login.tailscale.com/admin/settings/keys |
  tskey-(auth,api,client,node,scim,webhook)-{alnum:8-32}-{alnum:16-64}
tencent | Tencent Cloud key | console.cloud.tencent.com/cam/capi | AKID{alnum:32}
terraform | Terraform token | app.terraform.io/app/settings/tokens
together | Together key | api.together.ai/settings/api-keys | tgp_v1_{url:43}
trello | Trello token | trello.com/power-ups/admin | ATTA{hex:60-72}
trigger-dev | Trigger.dev key | cloud.trigger.dev | tr_(prod,dev)_{alnum:20-24} tr_pat_{alnum:40}
twitch | Twitch token | twitch.tv/settings/connections | oauth:{lower:30}
twitter | X bearer token | developer.x.com/portal
typeform | Typeform token | admin.typeform.com/account | tfp_{dotted:40-64}
unkey | Unkey root key | app.unkey.com/settings/root-keys | unkey_{alnum:22-40}
voyage | Voyage key | dashboard.voyageai.com/api-keys | (pa,al)-{url:43}
wandb | Weights & Biases key | wandb.ai/settings | wandb_v1_{url:60-100}
wecom-webhook | WeCom webhook | the group's bots | qyapi.weixin.qq.com/cgi-bin/webhook/send?key={uuid:36}
yandex | Yandex key | console.yandex.cloud | AQVN{url:35-38} t1.{url:60-200}.{url:86} y0_{url:50-80} YCAJE{url:20}
  (YCM,YCN,YCO,YCP){url:37}
zapier | Zapier webhook | the Zap of the webhook | hooks.zapier.com/hooks/catch/{digit:5-10}/{lower:6-12}
zuplo | Zuplo key | portal.zuplo.com | zpka_{word:32-60}
spoor | Spoor token | Spoor's Devices page | spoor_{alnum:36}
jwt | JSON Web Token | the service that issued it; until it expires it is valid |
  eyJ{url:10-2000}.eyJ{url:10-8000}.{url:16-1400} eyJhbGciOi{url:6-2000}.{url:20-8000}.{url:16-1400}
  eyJ{url:20-2000}..{url:16-22}.{url:16-8000}.{url:20-48} ZXlK{base64:60-8000}
url-password | Password in a URL | the server that the URL names
authorization | Authorization header | the service that the request went to
environment | Secret in an environment file | the service that the variable is for
unread | Line that takes too long to search | Look at it where it came from: it may hold a secret.
`;
const likely = `
signed-url | Signature of a URL | It ends by itself; who has the URL can read what it names until then.
mnemonic | Words of a wallet | Move what it holds to a new wallet.
password-hash | Hash of a password | Change the password that it is of.
cookie | Cookie of a sign-in | Sign out of the service, everywhere.
assignment | Password or key | at the issuing service
`;

/** The earlier one of two kinds that fit the same text is chosen. */
export const kinds: readonly Kind[] = [...kindsIn(certain, true), ...kindsIn(likely, false)];

function kindsIn(table: string, certain: boolean): Kind[] {
  const rows = table
    .trim()
    .replaceAll(/\n {2}/g, " ")
    .split("\n");
  return rows.map((row) => {
    const [id = "", name = "", rotate = "", forms = ""] = row.split(/ \|(?: |$)/);
    return { id, name, rotate, certain, forms: forms.split(" ").filter(Boolean).flatMap(expandForm) };
  });
}

function expandForm(form: string): string[] {
  const [, before = "", list, behind = ""] = /^(.*?)\(([^()]*)\)(.*)$/.exec(form) ?? [];
  return list === undefined ? [form] : list.split(",").map((one) => before + one + behind);
}

/** Only placeholders for the owner have a mark. */
export const marks = /\[redacted:([a-z\d][a-z\d-]{0,39})(?::([\da-f]{8}))?\]/g;
export const maxMarkChars = "[redacted::01234567]".length + 40;

export const makePlaceholder = (kind: string, mark?: string): string =>
  mark === undefined ? `[redacted:${kind}]` : `[redacted:${kind}:${mark}]`;
