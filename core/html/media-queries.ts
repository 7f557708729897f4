import { MEDIA_FEATURES, MEDIA_VALUE } from './css-allow-list.ts';

/** Characters; a longer list of media queries is dropped with its rules. */
const MAX_QUERIES_LENGTH = 1_000;

/**
 * Returns a list of media queries with known types, features and values only; '' for all media. Null when none is left: the rules within
 * never apply. Mail is shown on white in every color scheme, so its dark design is dropped.
 */
export function sanitizeMediaQueries(written: string): string | null {
  const source = written
    .replace(/\/\*.*?\*\//gs, ' ')
    .trim()
    .toLowerCase();
  if (source === '' || source === 'all') return '';
  if (source.length > MAX_QUERIES_LENGTH || !/^[\w\s,():./<>=-]*$/.test(source)) return null;
  const kept = source.split(',').flatMap((query) => queryText(query.trim()) ?? []);
  return kept.length === 0 ? null : kept.join(',');
}

function queryText(query: string): string | null {
  const { 1: modifier, 2: type, 3: rest = '' } = QUERY.exec(query) ?? [];
  const features = type === undefined ? query.split(AND) : rest.split(AND).slice(1);
  if (type !== undefined && rest.trim() !== '' && !/^\s+and\s*\(/.test(rest)) return null;
  const written: string[] = type === undefined ? [] : [`${modifier === undefined ? '' : `${modifier} `}${type}`];
  for (const feature of features) {
    const text = featureText(feature.trim());
    if (text === null) return null;
    if (text !== '') written.push(text);
  }
  return written.length === 0 ? 'all' : written.join(' and ');
}

const QUERY = /^(?:(only|not)\s+)?(all|screen|print|speech|handheld|projection|tv|tty|braille|embossed)\b(.*)$/s;
const AND = /(?:^|\s+)and\s*(?=\()/;

/** Returns a feature in parentheses; '' when it always holds, null when it is not permitted. */
function featureText(feature: string): string | null {
  const inside = /^\(([^()]*)\)$/.exec(feature)?.[1]?.trim();
  if (inside === undefined) return null;
  if (/^prefers-color-scheme\s*:\s*light$/.test(inside)) return '';
  const range = /^(width|height)\s*(<=|>=|<|>)\s*([^<>=]+)$/.exec(inside);
  const [, side = '', sign = '', limit = ''] = range ?? [];
  const plain = range === null ? inside : `${sign.startsWith('<') ? 'max' : 'min'}-${side}:${limit}`;
  const [name = '', value] = plain.split(':').map((part) => part.trim());
  if (!MEDIA_FEATURES.test(name)) return null;
  if (value === undefined) return `(${name})`;
  return MEDIA_VALUE.test(value) ? `(${name}:${value})` : null;
}
