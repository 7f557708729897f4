/** Elements that do not separate the words around them, those of old HTML and of Office among them. */
export const INLINE_ELEMENTS: ReadonlySet<string> = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr o:p q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);

/** Elements whose content is not displayed. */
export const UNSEEN_ELEMENTS: ReadonlySet<string> = new Set([
  'head',
  'script',
  'style',
  'template',
  'noscript',
  'title',
  'xml',
]);

/** Elements with a blank line before and after them. */
export const PARAGRAPH_ELEMENTS: ReadonlySet<string> = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre'.split(' '),
);
