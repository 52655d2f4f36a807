// Pure: the one list of files whose content is a secret, by their names.
import { nameMatcher, type NameGlobs } from './name-list.js';
import { pathInProject } from './path-in-project.js';

/** A file of one of these holds data, not a program. */
const DATA_FORMATS = ['json', 'yaml', 'yml', 'toml', 'ini', 'txt', 'xml', 'properties', 'conf', 'cfg', 'env'];

const SSH_KEYS = ['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk'];
const KEY_STORES = ['*.pem', '*.key', '*.p8', '*.p12', '*.pfx', '*.jks', '*.keystore'];
/** What editors and people append to the name of a file when they keep an older one. */
const BACKUP_ENDINGS = ['~', '.bak', '.old', '.orig'];

// Claude Code's own rules take the same globs: Read(**/name) for a file, Read(**/name/**) for a folder. It ignores case,
// follows links, and takes the glob of a file for a folder, too: so it asks about all that the matcher names, and more.

/** Names of folders and files that hold passwords, tokens or private keys. */
export const secretNames: NameGlobs = {
  folders: [
    // Keys and logins of this user.
    '.ssh',
    '.gnupg',
    '.password-store',
    '.1password',
    '.config/op',
    'keyrings',
    'Keychains',
    '.mozilla',
    '.config/google-chrome',
    '.config/chromium',
    // Clouds, clusters and forges.
    '.aws',
    '.azure',
    '.kube',
    '.oci',
    '.aliyun',
    '.bluemix',
    '.fly',
    '.config/gcloud',
    '.config/gh',
    '.config/glab-cli',
    '.config/hub',
    '.config/doctl',
    '.config/rclone',
    '.terraform.d',
    '.subversion/auth',
    // Folders kept for nothing else.
    'secrets',
    '.secrets',
  ],
  files: [
    // Environments.
    '.env',
    '.env.*',
    '.env-*',
    '.env_*',
    '.env~',
    '*.env',
    '.envrc',
    '.dev.vars',
    'environ',
    // Logins of programs.
    '.netrc',
    '_netrc',
    '.pgpass',
    '.my.cnf',
    '.mylogin.cnf',
    '.npmrc',
    '.pypirc',
    '.git-credentials',
    '.config/git/credentials',
    '.git/config',
    '.htpasswd',
    'htpasswd',
    '.vault-token',
    '.boto',
    '.s3cfg',
    '.dockercfg',
    '.docker/config.json',
    '.terraformrc',
    'terraform.rc',
    '.cargo/credentials*',
    '.gem/credentials',
    '.m2/settings*.xml',
    '.gradle/gradle.properties',
    'rclone.conf',
    'auth.json',
    '.claude.json',
    '.credentials.json',
    'kubeconfig',
    '*.kubeconfig',
    // What was typed.
    '.*_history',
    // Private keys and key stores.
    ...SSH_KEYS,
    ...SSH_KEYS.flatMap((name) => [`${name}.*`, `${name}~`]),
    ...KEY_STORES,
    ...KEY_STORES.flatMap((glob) => BACKUP_ENDINGS.map((ending) => `${glob}${ending}`)),
    '*.kdbx',
    '*.ppk',
    '*.ovpn',
    'wallet.dat',
    'key4.db',
    'logins.json',
    'Login Data',
    'cookies.sqlite',
    // What a project may hold.
    'credential',
    'credentials',
    'secret',
    ...['credential', 'credentials', 'secret', 'secrets'].flatMap((name) =>
      DATA_FORMATS.map((format) => `${name}.${format}`),
    ),
    'service-account*.json',
    'service_account*.json',
    'client_secret*.json',
    '*firebase-adminsdk*.json',
    '*.tfvars',
    '*.tfvars.json',
    '*.tfstate',
    '*.tfstate.*',
    'passwd',
    'shadow',
    'gshadow',
  ],
  except: [
    '*.pub',
    ...['example', 'sample', 'template', 'dist'].flatMap((word) => [
      `.env.${word}`,
      `.env-${word}`,
      `${word}.env`,
    ]),
  ],
};

/** True when the path, or a folder above it, is by its name one that holds secrets. `path`: names joined by `/`. */
export const isSecretName = nameMatcher(secretNames);

/**
 * True when the absolute path, or a folder above it, is by its name one that holds secrets. Of a path inside the project the
 * folders above the project do not count.
 */
export function isSecret(path: string, projectPath: string): boolean {
  return isSecretName(pathInProject(path, projectPath));
}
