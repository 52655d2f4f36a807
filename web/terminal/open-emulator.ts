import { Unicode11Addon } from '@xterm/addon-unicode11';
import { Terminal } from '@xterm/xterm';
import { guardSequences } from '../../src/screen/guard-sequences.js';
import { allowStyles } from './allowed-styles.js';
import { openLink } from './links.js';

/** A terminal in a page that takes no keys until it is told to. What a program in it prints reaches nothing else of the page. */
export function openEmulator(
  place: HTMLElement,
  scrollback: number,
): { readonly terminal: Terminal; readonly dispose: () => void } {
  const terminal = new Terminal({
    scrollback,
    disableStdin: true,
    allowProposedApi: true,
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
    fontSize: 13,
    screenReaderMode: true,
    linkHandler: { activate: (_event, uri) => openLink(uri) },
    theme: { background: '#16181d', foreground: '#e6e6e6' },
  });
  const forbidStyles = allowStyles(place);
  // Characters are as wide as in the emulator of the keeper, which draws the states.
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  terminal.open(place);
  guardSequences(terminal);
  // What a program in it may not do: read and write the clipboard, set the title of the page.
  for (const code of [0, 1, 2, 52]) terminal.parser.registerOscHandler(code, () => true);
  return {
    terminal,
    dispose: () => {
      terminal.dispose();
      forbidStyles();
    },
  };
}
