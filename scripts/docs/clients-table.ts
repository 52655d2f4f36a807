// Pure: the chat clients → the table of their settings files in the guide.
import { chatClients } from '../../src/clients/chat-clients.js';
import type { ClientPlace } from '../../src/clients/chat-client.js';

const linux: ClientPlace = { platform: 'linux', homeDir: '~', env: {} };
const macos: ClientPlace = { ...linux, platform: 'darwin' };

/** One row a client: where its settings are on Linux and macOS. */
export function clientsTable(): string {
  const rows = chatClients.map(({ id, title, settingsFiles, source }) => {
    const [onLinux = ''] = settingsFiles(linux);
    const [onMacos = ''] = settingsFiles(macos);
    const files = onLinux === onMacos ? `\`${onLinux}\`` : `\`${onLinux}\`; macOS: \`${onMacos}\``;
    return `| [${title}](${source}) | \`${id}\` | ${files} |`;
  });
  return ['| Client | `<client>` | Settings file |', '| --- | --- | --- |', ...rows].join('\n');
}
