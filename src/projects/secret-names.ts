// Pure: the list of names of files that contain secrets.
import { nameMatcher, type NameGlobs } from './name-list.js';
import { pathInProject } from './path-in-project.js';

/** File extensions of data, not of programs. */
const DATA_FORMATS = ['json', 'yaml', 'yml', 'toml', 'ini', 'txt', 'xml', 'properties', 'conf', 'cfg', 'env'];

const SSH_KEYS = ['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ecdsa_sk', 'id_ed25519', 'id_ed25519_sk'];
const KEY_STORES = ['*.pem', '*.key', '*.p8', '*.p12', '*.pfx', '*.jks', '*.keystore'];
/** Endings that editors and people append to the name of an older version. */
const BACKUP_ENDINGS = ['~', '.bak', '.old', '.orig'];

// Claude Code's own rules use the same globs: Read(**/name) for a file, Read(**/name/**) for a folder. It ignores case, follows
// links, and also matches folders with the glob of a file, so it asks about everything that this matcher names, and more.

/** Names of folders and files that contain passwords, tokens or private keys. */
export const secretNames: NameGlobs = {
  folders: [
    // The user's keys and logins.
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
    // Folders with no other purpose.
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
    // Histories of typed commands.
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
    // Secrets of a project.
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

/** True when the name of the path or of a folder above it suggests secrets. `path` uses `/` as separator. */
export const isSecretName = nameMatcher(secretNames);

/** Like `isSecretName` for an absolute path. For a path inside the project, the folders above the project do not count. */
export function isSecret(path: string, projectPath: string): boolean {
  return isSecretName(pathInProject(path, projectPath));
}
