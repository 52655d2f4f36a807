// Pure: files whose content is a secret, by their names.
import { sep } from 'node:path';

const SECRET_FOLDERS: ReadonlySet<string> = new Set([
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.password-store',
]);

/** Names of files that hold passwords, tokens or private keys. Examples of such files are none. */
const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(?!\.(example|sample|template|dist)$)(\..+)?$/,
  /^\.envrc$/,
  /^\.(netrc|pgpass|npmrc|pypirc|git-credentials|htpasswd|vault-token|boto|s3cfg)$/,
  /^_netrc$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/,
  /^(credentials|secrets?)(\.(json|ya?ml|toml|ini|txt))?$/,
  /^(service-account|client_secret).*\.json$/,
  /^(passwd|shadow|master\.key)$/,
];

/** True when the path, or a folder above it, is by its name one that holds secrets. Case is ignored. */
export function isSecret(path: string): boolean {
  const names = path.toLowerCase().split(sep);
  return (
    names.some((name) => SECRET_FOLDERS.has(name)) ||
    SECRET_NAMES.some((secret) => secret.test(names.at(-1) ?? ''))
  );
}
