import { createContext } from 'preact';
import { useState } from 'preact/hooks';
import type { Host } from './host.js';
import { textIn } from './json-rpc.js';

/** The client around this page, for what only it can do. */
export const HostContext = createContext<Host | undefined>(undefined);

interface OpenBoardProps {
  readonly host: Host;
  readonly taskId?: string | undefined;
  readonly label: string;
}

/** Opens the board in a browser, or shows the link where the client opens none. */
export function OpenBoard({ host, taskId, label }: OpenBoardProps) {
  const [words, setWords] = useState('');
  const open = async (): Promise<void> => {
    setWords('');
    const { isError, fields, text } = await host.callTool('open_board', {});
    if (isError) return setWords(text);
    const url = `${textIn(fields, 'url')}${taskId === undefined ? '' : `&task=${taskId}`}`;
    if (!(await host.openLink(url)))
      setWords(`The client opens no link. Open this one yourself, within a minute: ${url}`);
  };
  return (
    <span class="open-board">
      <button
        type="button"
        onClick={() => void open().catch((error: unknown) => setWords(`It was refused: ${String(error)}`))}
      >
        {label}
      </button>
      {words !== '' && <span role="alert">{words}</span>}
    </span>
  );
}
