// A client that shows apps, in a browser: the official AppBridge between a page in a sandboxed frame and a client of the official
// SDK. `fromServer` and `toServer` connect the client with a server process.
import { Client } from '@modelcontextprotocol/client';
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const MIME = 'text/html;profile=mcp-app';
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [MIME] } };

/** Messages that the test carries to a server and back. */
class CarriedTransport {
  async start() {
    window.fromServer = (message) => this.onmessage?.(message);
  }
  async send(message) {
    await window.toServer(JSON.stringify(message));
  }
  async close() {
    this.onclose?.();
  }
}

const client = new Client(
  { name: 'Chat for Tests', version: '1.0.0' },
  { capabilities: { extensions }, versionNegotiation: { mode: 'legacy' } },
);

/** What the page asked of the client, in order. */
const seen = { sizes: [], links: [], told: [], calls: [], cancelled: 0 };
let bridge;
let refused = new Set();

window.chat = {
  seen,
  connect: async () => {
    await client.connect(new CarriedTransport());
    await client.listTools();
  },
  call: (name, args) => client.callTool({ name, arguments: args }),
  read: async (uri) => (await client.readResource({ uri })).contents[0],
  /** Shows the page; `deny` names what this client refuses. */
  show: async (html, { context = {}, deny = [] } = {}) => {
    refused = new Set(deny);
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.srcdoc = html;
    frame.style.cssText = 'width:100%;height:60px;border:0';
    const capabilities = { openLinks: {}, serverTools: {}, updateModelContext: { text: {} } };
    bridge = new AppBridge(client, { name: 'chat', version: '1.0.0' }, capabilities, {
      hostContext: context,
    });
    bridge.addEventListener('sizechange', (size) => {
      seen.sizes.push(size);
      frame.style.height = `${size.height}px`;
    });
    const initialized = new Promise((resolve) => bridge.addEventListener('initialized', () => resolve()));
    bridge.onopenlink = async ({ url }) => {
      seen.links.push(url);
      return refused.has('links') ? { isError: true } : {};
    };
    bridge.onupdatemodelcontext = async ({ content }) => {
      if (refused.has('context')) throw new Error('not allowed');
      seen.told.push(content[0].text);
      return {};
    };
    document.body.replaceChildren(frame);
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    const forward = bridge.oncalltool;
    bridge.oncalltool = async (params, extra) => {
      seen.calls.push({ name: params.name, args: params.arguments });
      extra.mcpReq.signal.addEventListener('abort', () => seen.cancelled++);
      if (refused.has(params.name)) throw new Error('The user said no.');
      return forward(params, extra);
    };
    await initialized;
    return bridge.getAppVersion();
  },
  input: (args) => bridge.sendToolInput({ arguments: args }),
  result: (result) => bridge.sendToolResult(result),
  context: (context) => bridge.setHostContext(context),
  allow: () => refused.clear(),
  /** Scrolls the page out of sight, as a long conversation does, or back. */
  scrollAway: (away) => {
    document.body.style.paddingTop = away ? '5000px' : '0';
  },
  teardown: () => bridge.teardownResource({}),
};
