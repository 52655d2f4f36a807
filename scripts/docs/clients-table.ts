// Pure: the chat clients → the table of their settings files and links in the guide.
import { chatClients } from '../../src/clients/chat-clients.js';
import type { ClientPlace } from '../../src/clients/chat-client.js';
import { npxServerCommand } from '../../src/clients/server-command.js';

const linux: ClientPlace = { platform: 'linux', homeDir: '~', env: {} };
const macos: ClientPlace = { ...linux, platform: 'darwin' };

/** The addresses that add the server with one click. */
export function clientLinks(): string {
  const linked = chatClients.flatMap(({ title, link }) =>
    link === undefined ? [] : [`[${title}](${link(npxServerCommand)})`],
  );
  return ['| One click, with npm |', '| --- |', `| ${linked.join(' · ')} |`].join('\n');
}

/** One row a client: where its settings are on Linux and macOS, and the address that adds the server with one click. */
export function clientsTable(): string {
  const rows = chatClients.map(({ id, title, settingsFiles, link, source }) => {
    const [onLinux = ''] = settingsFiles(linux);
    const [onMacos = ''] = settingsFiles(macos);
    const files = onLinux === onMacos ? `\`${onLinux}\`` : `\`${onLinux}\`; macOS: \`${onMacos}\``;
    const click = link === undefined ? '' : `[add](${link(npxServerCommand)})`;
    return `| [${title}](${source}) | \`${id}\` | ${files} | ${click} |`;
  });
  return [
    '| Client | `<client>` | Settings file | One click, with npm |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
