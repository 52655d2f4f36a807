import { createContext } from 'preact';
import { useState } from 'preact/hooks';
import type { Host } from './host.js';
import { textIn } from './json-rpc.js';

/** The client around this page, for what only it can do. */
export const HostContext = createContext<Host | undefined>(undefined);

/** Opens the board in a browser, at a task. Gives what is to be said where the client opens no link. Never rejects. */
export async function openInBrowser(host: Host, taskId: string | undefined): Promise<string> {
  try {
    const { isError, fields, text } = await host.callTool('open_board', {});
    if (isError) return text;
    const url = `${textIn(fields, 'url')}${taskId === undefined ? '' : `&task=${taskId}`}`;
    const isOpen = await host.openLink(url);
    return isOpen ? '' : `The client opens no link. Open this one yourself, within a minute: ${url}`;
  } catch (error) {
    return `It was refused: ${String(error)}`;
  }
}

interface OpenBoardProps {
  readonly host: Host;
  readonly taskId?: string | undefined;
  readonly label: string;
}

/** Opens the board in a browser, or shows the link where the client opens none. */
export function OpenBoard({ host, taskId, label }: OpenBoardProps) {
  const [words, setWords] = useState('');
  return (
    <span class="open-board">
      <button type="button" onClick={() => void openInBrowser(host, taskId).then(setWords)}>
        {label}
      </button>
      {words !== '' && <span role="alert">{words}</span>}
    </span>
  );
}
