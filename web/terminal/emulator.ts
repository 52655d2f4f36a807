import { Unicode11Addon } from '@xterm/addon-unicode11';
import { Terminal, type ITerminalInitOnlyOptions, type ITerminalOptions } from '@xterm/xterm';
import { guardSequences } from '../../src/screen/guard-sequences.js';
import { ScreenSerializer } from '../../src/screen/serialize-screen.js';
import type { Size } from '../replay/recording.js';
import type { HiddenTerminal } from '../replay/reel.js';
import { webAddress } from '../text/words.js';

/** A terminal in a page that takes no keys until the page allows it. What a program in it prints reaches nothing else of the page. */
export function openEmulator(
  place: HTMLElement,
  scrollback: number,
): { readonly terminal: Terminal; readonly dispose: () => void } {
  const terminal = newTerminal({
    scrollback,
    disableStdin: true,
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
    fontSize: 13,
    screenReaderMode: true,
    linkHandler: { activate: (_event, uri) => openLink(uri) },
    theme: { background: '#161614', foreground: '#ecebe8' },
  });
  const forbidStyles = allowStyles(place);
  terminal.open(place);
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

/** A terminal that is not on the page: pictures of the screen are made of it. */
export function openHiddenTerminal({ columns, rows }: Size): HiddenTerminal {
  const terminal = newTerminal({ cols: columns, rows, scrollback: 0, logLevel: 'off' });
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

function newTerminal(options: ITerminalOptions & ITerminalInitOnlyOptions): Terminal {
  const terminal = new Terminal({ ...options, allowProposedApi: true });
  // Characters are as wide as in the emulator of the keeper, which draws the states.
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  guardSequences(terminal);
  return terminal;
}

/** Asks before a link of a terminal is opened, and shows where it leads; other schemes are not opened. */
function openLink(uri: string): void {
  const address = webAddress(uri);
  if (address === undefined) return;
  if (confirm(`Open this address, which the session printed?\n\n${address}`))
    open(address, '_blank', 'noopener,noreferrer');
}

/**
 * Lets xterm set its styles under the page's policy, until the result is called: its `<style>` elements get the nonce as they are made,
 * and what it writes into `style` attributes is set as properties.
 */
function allowStyles(place: HTMLElement): () => void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
  const owner = place.ownerDocument;
  const create = owner.createElement.bind(owner);
  owner.createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
    const element = create(name, options);
    if (name.toLowerCase() === 'style') element.setAttribute('nonce', nonce);
    element.setAttribute = setAttribute;
    return element;
  };
  return () => void (owner.createElement = create);
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}
