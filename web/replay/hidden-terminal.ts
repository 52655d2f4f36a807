import { Unicode11Addon } from '@xterm/addon-unicode11';
import { Terminal } from '@xterm/xterm';
import { guardSequences } from '../../src/screen/guard-sequences.js';
import { ScreenSerializer } from '../../src/screen/serialize-screen.js';
import type { Size } from './recording.js';
import type { HiddenTerminal } from './reel.js';

/** A terminal that is not on the page: pictures of the screen are made of it. */
export function openHiddenTerminal({ columns, rows }: Size): HiddenTerminal {
  const terminal = new Terminal({
    cols: columns,
    rows,
    scrollback: 0,
    allowProposedApi: true,
    logLevel: 'off',
  });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  guardSequences(terminal);
  const serializer = new ScreenSerializer(terminal);
  return {
    write: (text) => new Promise((resolve) => terminal.write(text, resolve)),
    resize: (size) => terminal.resize(size.columns, size.rows),
    state: () => serializer.state(0),
    dispose: () => {
      serializer.dispose();
      terminal.dispose();
    },
  };
}
