import { Parser } from 'htmlparser2';

/** What a reader of an HTML body gets to see and to click, roughly. */
export interface HtmlOutline {
  /** the visible text, block by block on lines of their own */
  text: string;
  links: { href: string; text: string }[];
}

/** Of a link's text; characters. */
const MAX_LINK_TEXT = 200;
const MAX_LINKS = 2_000;
/** Elements within elements; deeper HTML is read up to there. The parser's time grows with the depth. */
const MAX_DEPTH = 500;

const UNSEEN = new Set(['head', 'script', 'style', 'template', 'noscript', 'title']);
/** They stand within a line. */
const INLINE = new Set(
  'a abbr b bdi bdo big cite code em font i ins kbd label mark q s samp small span strike strong sub sup tt u var wbr'.split(
    ' ',
  ),
);

/** Reads an HTML body once from its beginning to its end; never throws, whatever the HTML is. */
export function readHtmlOutline(html: string): HtmlOutline {
  const pieces: string[] = [];
  const links: HtmlOutline['links'] = [];
  let unseen = 0;
  let depth = 0;
  let link: { href: string; text: string } | null = null;

  const part = (by: ' ' | '\n') => {
    if (pieces.at(-1) !== '\n') pieces.push(by);
  };
  const endLink = () => {
    if (link !== null && links.length < MAX_LINKS) links.push({ ...link, text: shortened(link.text) });
    link = null;
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (++depth > MAX_DEPTH) return parser.pause();
      if (UNSEEN.has(name)) unseen++;
      if (!INLINE.has(name)) part(name === 'td' || name === 'th' ? ' ' : '\n');
      if (name === 'a' || name === 'area') {
        endLink();
        if (attributes['href'] !== undefined)
          link = { href: attributes['href'], text: attributes['aria-label'] ?? attributes['title'] ?? '' };
        if (link !== null && name === 'a') link.text = '';
      } else if (name === 'img' && link !== null) addText(link, ` ${attributes['alt'] ?? ''} `);
    },
    ontext(text) {
      if (unseen > 0) return;
      pieces.push(text.replace(/[\r\n\t]+/g, ' '));
      if (link !== null) addText(link, text);
    },
    onclosetag(name) {
      depth--;
      if (UNSEEN.has(name) && unseen > 0) unseen--;
      if (name === 'a' || name === 'area') endLink();
      else if (!INLINE.has(name) && name !== 'td' && name !== 'th') part('\n');
    },
  });
  parser.end(html);
  endLink();
  return { text: pieces.join(''), links };
}

function addText(link: { text: string }, text: string): void {
  if (link.text.length < 4 * MAX_LINK_TEXT) link.text += text.slice(0, MAX_LINK_TEXT);
}

function shortened(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_LINK_TEXT);
}
