// Pure.
export interface PageHtmlOptions {
  /** Where the editor lets the page load from. */
  readonly source: string;
  /** Address of the folder of the page, without a slash at its end. */
  readonly folder: string;
  /** Of the styles that the page itself makes. */
  readonly nonce: string;
}

/** The page of the view: it loads its own script and style, and nothing else. */
export function pageHtml({ source, folder, nonce }: PageHtmlOptions): string {
  const policy = [
    "default-src 'none'",
    `script-src ${source}`,
    `style-src ${source} 'nonce-${nonce}'`,
    `img-src ${source} data:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="content-security-policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="style-nonce" content="${nonce}" />
    <title>Claude tasks</title>
    <link rel="stylesheet" href="${folder}/page.css" />
    <script type="module" src="${folder}/page.js"></script>
  </head>
  <body>
    <div id="app"><p class="empty">Loading…</p></div>
  </body>
</html>
`;
}
