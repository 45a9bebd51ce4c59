import { isCredible, isDense, isKey, isPassword, isRandom } from "#common/secrets/credible";
import { type Detector, findAfter, findBefore, findPasswordAfter } from "#common/secrets/detectors/detector";

const isAny = (value: string): boolean => isKey(value) || isCredible(value) || isPassword(value);

/** The rest of a command, its line's end, also in JSON, and what precedes its output, such as a line number. */
const restOfCommand = String.raw`[^\n|]{0,120}?(?:\n|\\{1,3}n){1,3}(?:\s|\d{1,5}[\t→])*`;
const printed = (value: string, ahead = "") =>
  new RegExp(String.raw`^${ahead}${restOfCommand}(${value})(?![^\s\\"'])`, "i");

const outputs: readonly Detector[] = [
  findAfter("private-key", "wg genkey|wg genpsk", printed(String.raw`[A-Za-z\d+/]{43}=`), isRandom),
  findPasswordAfter("master.key|credentials/production.key", printed(String.raw`[\da-f]{32}`), isRandom),
  findPasswordAfter("proceed to installation:|initialadminpassword", printed(String.raw`[\da-f]{32}`), isRandom),
  findPasswordAfter(
    "get-login-password|print-access-token|auth token",
    printed(String.raw`[\w.+/=-]{60,4000}`),
    isDense,
    { chars: 4400 },
  ),
  findPasswordAfter(
    'output -raw |printenv |/run/secrets/|echo $|echo "$|echo ${',
    printed(String.raw`[^\s"'\\]{8,256}`, String.raw`(?=[\w.-]{0,60}(?:pass|pwd|secret|token|key))`),
    isAny,
  ),
  findPasswordAfter(
    "secret-tool lookup |pass show |op read |find-generic-password ",
    printed(String.raw`[^\s"'\\]{8,256}`),
    isAny,
  ),
  findPasswordAfter("openssl rand -base64 |openssl rand -hex ", printed(String.raw`[A-Za-z\d+/]{24,128}={0,2}`), isKey),
  findPasswordAfter(["| base64 -d", "| base64 --decode"], printed(String.raw`[^\s"'\\]{12,256}`), isDense),
];

const options: readonly Detector[] = [
  findBefore(
    "assignment",
    "sudo -s|password-stdin|secret put|secret set|env add|chpasswd|data-file=-|pass insert",
    /(?:echo|printf)\s(?:-n\s)?["']?([^\s"'|]{6,128})["']?\s?\|[^|\n]{0,120}$/,
    isPassword,
  ),
  findAfter(
    "authorization",
    "-u |--user |--proxy-user | -a ",
    /^\\{0,7}["']?(?!\$)[^\s:,"'\\]{1,128}[:,]([^\s"'\\]{4,256})/,
    isPassword,
    { ahead: /\b(?:curl|wget|https?|xh|lftp)\b[^\n|;]*$/ },
  ),
  findPasswordAfter(" -p| -a | -w ", /^\s?\\{0,7}["']?([^\s"'\\]{6,256})/, isPassword, {
    chars: 300,
    ahead:
      /\b(?:sshpass|mysql\w*|mariadb|redis-cli|mongo\w*|ldap\w+|sqlcmd|twine|supabase|mosquitto_\w+|psexec\S*|(?:evil-)?winrm|netexec|nxc|crackmapexec|(?:docker|podman|helm|oras|skopeo|buildah|az)\s[^\n|;]*\blogin|zip|7z)\b[^\n|;]*$/,
  }),
  findPasswordAfter("openssl enc ", /^[^\n|;]{0,160}?\s-k\s\\{0,7}["']?([^\s"'\\]{6,128})/),
  findPasswordAfter("pass pass:|passin pass:|passout pass:", /^([^\s"'\\]{6,128})/),
  findPasswordAfter("storepass |keypass ", /^["']?([^\s"'\\]{6,128})/),
  findPasswordAfter("securestring ", /^(?:-String )?["']([^\s"']{6,128})["']/),
  findPasswordAfter("smbclient |rpcclient ", /^[^\n|;]{0,120}?-U\s?\\{0,7}["']?[\w.@/-]{1,64}%([^\s"'\\]{6,64})/),
  findPasswordAfter("net use ", /^[^\n]{0,100}?\/user:\S{1,64}\s\\{0,7}["']?([^\s"'*\\]{6,64})/),
  findPasswordAfter("net user ", /^[\w.@-]{1,64}\s\\{0,7}["']?([^\s"'*/\\]{6,64})/),
  findPasswordAfter("htpasswd -", /^\w{0,6}b\w{0,6}\s\S{1,160}\s\S{1,80}\s\\{0,7}["']?([^\s"'\\]{6,64})/),
  findPasswordAfter("<<<", /^\s?\\{0,7}["']?([^\s"'\\$]{8,256})/, isPassword, {
    ahead: /(?:secret|env add|stdin|token|login|passw|pass insert)[^\n|;]*$/i,
  }),
  findPasswordAfter("add_user |change_password ", /^[\w.@-]{1,64}\s\\{0,7}["']?([^\s"'\\]{6,128})/),
  findPasswordAfter(
    "add-generic-password |add-internet-password ",
    /^[^\n|;]{0,200}?-w\s\\{0,7}["']?([^\s"'\\]{6,128})/,
  ),
  findPasswordAfter("influx ", /^[^\n|;]{0,120}?\s(?:-t|--token)[ =]\\{0,7}["']?([\w-]{86}==)/, isDense),
  findPasswordAfter(
    "put-parameter ",
    /^(?=[\s\S]{0,380}SecureString)[\s\S]{0,300}?--value[ =]\\{0,7}["']?([^\s"'\\]{6,256})/,
    isAny,
  ),
  findPasswordAfter("service install |run --token ", /^(eyJ[\w-]{80,800}={0,2})/, isRandom, { chars: 900 }),
];

const dialogs: readonly Detector[] = [
  findPasswordAfter('send "|send -- "|send \\"', /^([^\s"\\]{6,64})\\+r/),
  findPasswordAfter("> auth |redis-cli auth ", /^(?:[\w-]{1,32} )?\\{0,7}["']?([^\s"'\\]{6,128})/),
  findPasswordAfter("identified with ", /^\S{3,40} (?:by|as) \\{0,7}['"]([^'"\n\\]{6,128})\\{0,7}['"]/i),
  findPasswordAfter(
    "credentials|creds|login with |log in with |login as |log in as |sign in with |zugangsdaten|identifiants",
    /^(?:[^\n:/]{0,40}:\s{0,3})?[`*"']{0,3}[\w.@-]{2,40}[`*"']{0,3}(?: \/ |\/|:)[`*"']{0,3}([^\s`*"'/\\]{6,64})/,
    (value) => isPassword(value.replace(/[.,;)]+$/, "")),
  ),
  findPasswordAfter("is generated for ", /^[\w.@%-]{1,60}: (\S{8,64})/, isPassword, { ahead: /password $/i }),
  findPasswordAfter("(admin/|(root/", /^([^\s"'`)]{8,64})\)/),
  findPasswordAfter("admin / |root / ", /^["'`]?([^\s"'`]{8,64})/),
  findPasswordAfter("password for the ", /^[\w-]{1,40} user[^\n]{0,80}:\s{1,10}([^\s]{8,64})/, isCredible),
  findPasswordAfter("unseal key ", /^\d{1,2}: ([A-Za-z\d+/]{43,44}=?)/, isRandom),
];

export const commandPasswords: readonly Detector[] = [...outputs, ...options, ...dialogs];
