// Pure: secrets among the paths that a command names.
import { isSecret as isSecretPath } from '../projects/secret-names.js';

/** True when the path, or a folder above it, is by its name one that holds secrets. */
export function isSecret(path: string): boolean {
  return isSecretPath(path, '');
}
