// Pure.
import type { ComponentChildren } from 'preact';
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

function nodes(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, at) => <Piece key={at} token={token} />);
}

function Piece({ token }: { readonly token: Token }) {
  return <>{isMarked(token) ? pieceOf(token) : visible(token.raw)}</>;
}

/** Only extensions of the lexer make others, and none is used here. */
function isMarked(token: Token): token is MarkedToken {
  return token.type !== 'generic';
}

function pieceOf(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'heading':
      return <Heading depth={token.depth}>{nodes(token.tokens)}</Heading>;
    case 'paragraph':
      return <p>{nodes(token.tokens)}</p>;
    case 'blockquote':
      return <blockquote>{nodes(token.tokens)}</blockquote>;
    case 'list':
      return <List list={token} />;
    case 'list_item':
      return <li>{nodes(token.tokens)}</li>;
    case 'checkbox':
      return <span class="task-box">{token.checked ? '☑ ' : '☐ '}</span>;
    case 'code':
      return <CodeBlock code={token} />;
    case 'table':
      return <Table table={token} />;
    case 'hr':
      return <hr />;
    case 'space':
      return null;
    default:
      return wordsOf(token);
  }
}

/** What stands within a line. HTML and images, and what is not known, stand as they are written. */
function wordsOf(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'strong':
      return <strong>{nodes(token.tokens)}</strong>;
    case 'em':
      return <em>{nodes(token.tokens)}</em>;
    case 'del':
      return <del>{nodes(token.tokens)}</del>;
    case 'codespan':
      return <code>{visible(token.text)}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link link={token} />;
    case 'text':
      return token.tokens === undefined ? visible(token.text) : nodes(token.tokens);
    case 'escape':
      return visible(token.text);
    default:
      return visible(token.raw);
  }
}

/** The page has headings of its own down to the second level. */
function Heading({ depth, children }: { readonly depth: number; readonly children: ComponentChildren }) {
  if (depth <= 1) return <h3>{children}</h3>;
  return depth === 2 ? <h4>{children}</h4> : <h5>{children}</h5>;
}

function List({ list }: { readonly list: Tokens.List }) {
  const items = nodes(list.items);
  return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>;
}

function CodeBlock({ code }: { readonly code: Tokens.Code }) {
  const language = code.lang === undefined || code.lang === '' ? 'Code' : `Code: ${code.lang}`;
  return (
    <pre tabIndex={0} role="group" aria-label={visible(language)}>
      <code>{visible(code.text)}</code>
    </pre>
  );
}

function Table({ table }: { readonly table: Tokens.Table }) {
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              <th key={at} scope="col">
                {nodes(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
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
