// Pure.
import { Fragment, type ComponentChildren } from 'preact';
import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { visible, webAddress } from '../text/words.js';

/** Markdown as elements: HTML in it is text, images are not loaded, and each link shows where it leads. */
export function Markdown({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="block markdown" tabIndex={0} role="group" aria-label={label} dir="auto">
      {nodes(Lexer.lex(text, { gfm: true }))}
    </div>
  );
}

/** Only extensions of the lexer make other tokens than marked ones, and none is used here. */
function nodes(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, at) => (
    <Fragment key={at}>{isMarked(token) ? pieceOf(token) : visible(token.raw)}</Fragment>
  ));
}

function isMarked(token: Token): token is MarkedToken {
  return token.type !== 'generic';
}

/** What holds others and nothing else. */
const holders = {
  paragraph: 'p',
  blockquote: 'blockquote',
  list_item: 'li',
  strong: 'strong',
  em: 'em',
  del: 'del',
} as const;

/** HTML and images, and what is not known, are text as it is written. */
function pieceOf(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'paragraph':
    case 'blockquote':
    case 'list_item':
    case 'strong':
    case 'em':
    case 'del': {
      const Holder = holders[token.type];
      return <Holder>{nodes(token.tokens)}</Holder>;
    }
    case 'heading': {
      // The page has headings of its own down to the second level.
      const Heading = token.depth <= 1 ? 'h3' : token.depth === 2 ? 'h4' : 'h5';
      return <Heading>{nodes(token.tokens)}</Heading>;
    }
    case 'list': {
      const items = nodes(token.items);
      return token.ordered ? <ol start={Number(token.start || 1)}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'checkbox':
      return <span class="task-box">{token.checked ? '☑ ' : '☐ '}</span>;
    case 'code':
      return (
        <pre tabIndex={0} role="group" aria-label={visible(token.lang ? `Code: ${token.lang}` : 'Code')}>
          <code>{visible(token.text)}</code>
        </pre>
      );
    case 'codespan':
      return <code>{visible(token.text)}</code>;
    case 'table':
      return <Table table={token} />;
    case 'link':
      return <Link link={token} />;
    case 'text':
      return token.tokens === undefined ? visible(token.text) : nodes(token.tokens);
    case 'escape':
      return visible(token.text);
    case 'hr':
      return <hr />;
    case 'br':
      return <br />;
    case 'space':
      return null;
    default:
      return visible(token.raw);
  }
}

function Table({ table: { header, rows } }: { readonly table: Tokens.Table }) {
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th key={at} scope="col">
                {nodes(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>{nodes(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The address stands beside the words, since words can name another one. */
function Link({ link }: { readonly link: Tokens.Link }) {
  const address = webAddress(link.href);
  if (address === undefined) return <>{visible(link.raw)}</>;
  return (
    <>
      <a href={address} target="_blank" rel="noopener noreferrer">
        {link.text === link.href ? visible(address) : nodes(link.tokens)}
      </a>
      {link.text !== link.href && <span class="quiet"> ({visible(address)})</span>}
    </>
  );
}
