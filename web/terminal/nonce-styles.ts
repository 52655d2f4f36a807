/** xterm makes `<style>` elements without the nonce that the page's policy asks for: they get it as they are put in. */
export function nonceStyles(place: HTMLElement): () => void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
  const document_ = place.ownerDocument;
  const create = document_.createElement.bind(document_);
  document_.createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
    const element = create(name, options);
    if (name.toLowerCase() === 'style') element.setAttribute('nonce', nonce);
    return element;
  };
  return () => {
    document_.createElement = create;
  };
}
