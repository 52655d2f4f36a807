import { installPackage, type InstalledPackage } from '../../harness/install-package.js';
import { CLIENT_PACKAGES, type ClientKey, type ClientPackage } from './versions.js';

export type InstalledClient = ClientPackage & InstalledPackage;

/** The client, installed when it is not there yet. Rejects when npm fails. */
export async function installClient(key: ClientKey): Promise<InstalledClient> {
  const wanted = CLIENT_PACKAGES[key];
  return { ...wanted, ...(await installPackage(wanted)) };
}
