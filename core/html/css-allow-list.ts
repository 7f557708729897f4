/**
 * What CSS of mail may say. Everything else is dropped: each of these affects only how the mail itself is drawn. Left out are positions and
 * stacking, animations, filters, masks, shapes, generated images and custom properties (a `var()` could be anything).
 */
export const CSS_PROPERTIES: ReadonlySet<string> = new Set(
  `align-content align-items align-self aspect-ratio background background-clip background-color background-image background-origin
  background-position background-position-x background-position-y background-repeat background-size border border-bottom
  border-bottom-color border-bottom-left-radius border-bottom-right-radius border-bottom-style border-bottom-width border-collapse
  border-color border-left border-left-color border-left-style border-left-width border-radius border-right border-right-color
  border-right-style border-right-width border-spacing border-style border-top border-top-color border-top-left-radius
  border-top-right-radius border-top-style border-top-width border-width box-shadow box-sizing break-after break-before break-inside
  caption-side clear color column-count column-gap column-rule column-width columns content cursor direction display empty-cells flex
  flex-basis flex-direction flex-flow flex-grow flex-shrink flex-wrap float font font-family font-size font-stretch font-style
  font-variant font-weight gap grid-column grid-row grid-template-columns grid-template-rows height hyphens justify-content justify-items
  justify-self letter-spacing line-height list-style list-style-image list-style-position list-style-type margin margin-bottom
  margin-inline margin-left margin-right margin-top max-height max-width min-height min-width object-fit object-position opacity order
  outline outline-color outline-offset outline-style outline-width overflow overflow-wrap overflow-x overflow-y padding padding-bottom
  padding-left padding-right padding-top page-break-after page-break-before page-break-inside place-content place-items position quotes
  row-gap tab-size table-layout text-align text-decoration text-decoration-color text-decoration-line text-decoration-style text-indent
  text-overflow text-shadow text-size-adjust text-transform text-underline-offset unicode-bidi vertical-align visibility white-space width
  word-break word-spacing word-wrap -webkit-text-size-adjust`.split(/\s+/),
);

/** Properties in which the URL of an image becomes `none`, so that the rest of the declaration stays. */
export const IMAGE_PROPERTIES: ReadonlySet<string> = new Set(
  'background background-image list-style list-style-image'.split(' '),
);

export const CSS_FUNCTIONS: ReadonlySet<string> = new Set(
  `rgb rgba hsl hsla hwb calc min max clamp minmax repeat fit-content linear-gradient radial-gradient conic-gradient
  repeating-linear-gradient repeating-radial-gradient -webkit-linear-gradient`.split(/\s+/),
);

/** Without lengths that depend on the height of the frame, which in turn depends on the content (CSS Values and Units §6.1.2). */
export const CSS_UNITS: ReadonlySet<string> = new Set(
  'px em rem ex ch pt pc in cm mm q vw deg rad grad turn fr'.split(' '),
);

/** Pseudo-classes and pseudo-elements that are kept; `:link` also matches visited links, so that none shows what was visited. */
export const CSS_PSEUDOS: ReadonlyMap<string, string> = new Map([
  ['link', 'any-link'],
  ...'any-link hover active focus root first-child last-child only-child first-of-type last-of-type only-of-type empty'
    .split(' ')
    .map((name): [string, string] => [name, name]),
]);
export const CSS_NTH_PSEUDOS: ReadonlySet<string> = new Set(
  'nth-child nth-last-child nth-of-type nth-last-of-type'.split(' '),
);
export const CSS_PSEUDO_ELEMENTS: ReadonlySet<string> = new Set('before after first-line first-letter'.split(' '));
/** Those of which only their own selector is dropped. Any other name makes the whole rule invalid in a browser. */
export const CSS_DROPPED_PSEUDOS: ReadonlySet<string> = new Set(
  `visited target target-within has is where matches checked disabled enabled focus-within focus-visible lang dir indeterminate valid
  invalid required optional placeholder-shown autofill default in-range out-of-range read-only read-write fullscreen popover-open open
  defined host scope state selection marker placeholder backdrop file-selector-button details-content cue part slotted`.split(
    /\s+/,
  ),
);

/** Attributes of sanitized HTML that selectors may name. */
export const SELECTED_ATTRIBUTES: ReadonlySet<string> = new Set(
  `align alt bgcolor border cellpadding cellspacing class color colspan dir face height href id lang rowspan size src style type valign
  width`.split(/\s+/),
);

/** Features of media queries (Media Queries 4), with the values they may have. */
export const MEDIA_FEATURES =
  /^(?:-webkit-)?(?:(?:min-|max-)?(?:device-)?(?:width|height|aspect-ratio|pixel-ratio|resolution)|(?:min-|max-)?(?:color|monochrome)|orientation|hover|pointer|any-hover|any-pointer|prefers-reduced-motion|prefers-contrast)$/;
export const MEDIA_VALUE =
  /^(?:\d{1,6}(?:\.\d{1,6})?(?:px|em|rem|pt|cm|mm|in|dpi|dppx|x)?(?:\s*\/\s*\d{1,6})?|[a-z-]{1,20})$/;
